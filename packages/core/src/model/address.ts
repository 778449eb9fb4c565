/** The address of a model's server, if known. The same model may have another limit at another address. */
import type { Model } from "./model.ts"

const PUBLIC_API = "https://api.anthropic.com"

/** The URL without user, password and query, which may be secrets. `undefined` if it is not a URL. */
function withoutSecrets(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`.replace(/(?:\/v1)?\/*$/, "")
}

export interface AnthropicAddressOptions {
  readonly client?: unknown
  readonly baseURL?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>>
}

export function anthropicAddress({ client, baseURL, env = process.env }: AnthropicAddressOptions): string {
  const own = (client as { baseURL?: unknown } | undefined)?.baseURL
  return withoutSecrets(client ? own : baseURL || env.ANTHROPIC_BASE_URL) ?? PUBLIC_API
}

/** Providers store the address in different fields, mostly private ones. */
export function aiSdkAddress(model: object): string | undefined {
  const { config } = model as { config?: { baseURL?: unknown; url?: unknown } }
  if (!config) return undefined
  try {
    return withoutSecrets(typeof config.url === "function" ? config.url({ path: "", modelId: "" }) : config.baseURL)
  } catch {
    return undefined
  }
}

/** Falls back to the provider's name if the address is unknown. */
export const modelAddress = ({ address, provider }: Pick<Model, "address" | "provider">): string => address ?? provider
