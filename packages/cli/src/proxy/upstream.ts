/**
 * Chooses the upstream server of the proxy. The client's base URL variable is not used for the proxy itself, which would then call itself.
 */
import { type CommandCall, UsageError } from "../command.ts"
import type { Announcement } from "./announcement.ts"

export const PUBLIC_API = "https://api.anthropic.com"

export interface UpstreamChoice {
  readonly upstream: string
  /** Name of the option or variable that set the upstream, for messages. */
  readonly from: string
}

/** The upstream that the user set for the proxy. */
export function namedUpstream(option: string | undefined, env: CommandCall["env"]): UpstreamChoice | undefined {
  if (option !== undefined) return { upstream: validateUpstream(option, "--upstream"), from: "--upstream" }
  const set = env.STRATA_UPSTREAM
  return set ? { upstream: validateUpstream(set, "STRATA_UPSTREAM"), from: "STRATA_UPSTREAM" } : undefined
}

export const publicApi: UpstreamChoice = { upstream: PUBLIC_API, from: "the public API" }

/** Replaces the base URL of a Strata proxy with that proxy's upstream. */
export function skipProxies(baseUrl: string, proxies: readonly Announcement[]): string {
  const own = (url: string) => proxies.find((each) => sameAddress(each.url, url))
  let url = baseUrl
  for (let hops = 0, proxy = own(url); proxy && hops < proxies.length; hops++, proxy = own(url)) url = proxy.upstream
  return url
}

export const isPublic = (url: string): boolean => URL.canParse(url) && new URL(url).host === new URL(PUBLIC_API).host

/** The address for messages: without the path, which may contain a secret, and without a password. */
export const displayAddress = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "an address")

function sameAddress(a: string, b: string): boolean {
  const bare = (url: string) => url.replace(/\/+$/, "").replace("//localhost:", "//127.0.0.1:")
  return bare(a) === bare(b)
}

export function validateUpstream(url: string, from: string): string {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url
  throw new UsageError(`${from} is not a URL. Use one that starts with http:// or https://. Nothing was started.`)
}
