/** Hosts in one spelling, for rules and for fetching. Two addresses that reach the same server under a name have the same host here. */
import { isIP } from "node:net"

/**
 * The host of a URL: lower case, as punycode, IPv4 in four decimal numbers, without brackets, user name, port and dots at the end.
 * Undefined for a text that is not a URL with a host.
 */
export function hostOf(url: string | URL): string | undefined {
  const parsed = typeof url === "string" ? URL.parse(url) : url
  if (!parsed) return undefined
  const bare = parsed.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "")
  return bare === "" ? undefined : (mappedAddress(bare) ?? bare)
}

/** `::ffff:7f00:1` is 127.0.0.1 in the form of IPv6. The URL parser writes it in hexadecimal. */
function mappedAddress(host: string): string | undefined {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host) ?? []
  if (high === undefined || low === undefined) return undefined
  const bits = [high, low].map((part) => Number.parseInt(part, 16))
  return bits.flatMap((part) => [part >> 8, part & 255]).join(".")
}

export interface UrlRule {
  /** `domain:example.com`, `example.com`, `*.example.com`, `*`, or a URL, with `*` at its end for everything that starts with it. */
  readonly pattern: string
  /** Whether a domain covers its sub-domains: yes where a rule restricts, no where it allows. */
  readonly withSubdomains: boolean
}

type UrlPattern =
  | { readonly kind: "any" }
  | { readonly kind: "href"; readonly href: string; readonly isPrefix: boolean }
  | { readonly kind: "domain"; readonly domain: string; readonly isWildcard: boolean }

/** Whether a rule's pattern covers a URL. */
export function urlFits(url: string, rule: UrlRule): boolean {
  const pattern = parsedPattern(rule)
  if (pattern?.kind === "href") {
    const given = hrefOf(url)
    return pattern.isPrefix ? given?.startsWith(pattern.href) === true : given === pattern.href
  }
  const host = hostOf(url)
  if (host === undefined || pattern === undefined) return false
  if (pattern.kind === "any") return true
  const { domain, isWildcard } = pattern
  const isBelow = isIP(domain) === 0 && host.endsWith(`.${domain}`)
  if (isWildcard) return isBelow
  return host === domain || (rule.withSubdomains && isBelow)
}

/** Whether there is a URL that the pattern covers. */
export const canFitUrl = (rule: UrlRule): boolean => parsedPattern(rule) !== undefined

function parsedPattern({ pattern, withSubdomains }: UrlRule): UrlPattern | undefined {
  const bare = pattern.trim().replace(/^domain:/i, "")
  if (bare.includes("://")) {
    const isPrefix = bare.endsWith("*")
    const href = hrefOf(isPrefix ? bare.slice(0, -1) : bare)
    return href === undefined ? undefined : { kind: "href", href, isPrefix }
  }
  if (bare === "*") return { kind: "any" }
  const isWildcard = bare.startsWith("*.")
  const text = isWildcard ? bare.slice(2) : bare
  // a path is not compared, so a rule that allows must not have one
  if (!withSubdomains && /[/\\?#]/.test(text)) return undefined
  const domain = domainIn(text)
  return domain === undefined || /[*\s]/.test(domain) ? undefined : { kind: "domain", domain, isWildcard }
}

/** Read by the same parser as a URL's host, so that upper case, other scripts and dots at the end make no difference. */
function domainIn(text: string): string | undefined {
  const needsBrackets = isIP(text) === 6
  return hostOf(`http://${needsBrackets ? `[${text}]` : text}/`)
}

/** Without user name and fragment: neither changes which page is fetched. */
function hrefOf(text: string): string | undefined {
  const url = URL.parse(text)
  const host = url && hostOf(url)
  if (!url || host === undefined) return undefined
  const port = url.port === "" ? "" : `:${url.port}`
  return `${url.protocol}//${host}${port}${url.pathname}${url.search}`
}

/** Whether a redirect stays on the server it came from: the same host with or without `www.`, on the same port or on https. */
export function isSameServer(from: URL, to: URL): boolean {
  const plain = (url: URL) => hostOf(url)?.replace(/^www\./, "")
  if (plain(from) === undefined || plain(from) !== plain(to)) return false
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:" && from.port === "" && to.port === ""
  return isUpgrade || (from.protocol === to.protocol && from.port === to.port)
}
