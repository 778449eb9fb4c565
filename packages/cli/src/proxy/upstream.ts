/** Which server the proxy is in front of. The client's variable is never ours: a proxy that reads it would call itself. */
import { type CommandCall, UsageError } from "../command.ts"
import type { Announcement } from "./announcement.ts"

export const PUBLIC_API = "https://api.anthropic.com"

export interface UpstreamChoice {
  readonly upstream: string
  /** What said so, for a sentence. */
  readonly from: string
}

/** What the user named for the proxy itself. */
export function namedUpstream(option: string | undefined, env: CommandCall["env"]): UpstreamChoice | undefined {
  if (option !== undefined) return { upstream: validateUpstream(option, "--upstream"), from: "--upstream" }
  const set = env.STRATA_UPSTREAM
  return set ? { upstream: validateUpstream(set, "STRATA_UPSTREAM"), from: "STRATA_UPSTREAM" } : undefined
}

export const publicApi: UpstreamChoice = { upstream: PUBLIC_API, from: "the public API" }

/** A base URL that is one of our proxies leads to the server that it sends to. */
export function skipProxies(baseUrl: string, proxies: readonly Announcement[]): string {
  const own = (url: string) => proxies.find((each) => sameAddress(each.url, url))
  let url = baseUrl
  for (let hops = 0, proxy = own(url); proxy && hops < proxies.length; hops++, proxy = own(url)) url = proxy.upstream
  return url
}

export const isPublic = (url: string): boolean => URL.canParse(url) && new URL(url).host === new URL(PUBLIC_API).host

/** For sentences: a path may hold a secret, and an address a password. */
export const displayAddress = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "an address")

function sameAddress(a: string, b: string): boolean {
  const bare = (url: string) => url.replace(/\/+$/, "").replace("//localhost:", "//127.0.0.1:")
  return bare(a) === bare(b)
}

export function validateUpstream(url: string, from: string): string {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url
  throw new UsageError(`${from} is not a URL. Use one that starts with http:// or https://. Nothing was started.`)
}
