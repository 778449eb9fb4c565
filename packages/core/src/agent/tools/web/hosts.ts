/** Normalizes hosts, for rules and for fetching. Two addresses that reach the same server by name have the same host here. */
import { isIP } from "node:net"

/**
 * The normalized host of a URL: lower case, as punycode, IPv4 as four decimal numbers, without brackets, user name, port and trailing dots.
 * `undefined` if the text is not a URL with a host.
 */
export function hostOf(url: string | URL): string | undefined {
  const parsed = typeof url === "string" ? URL.parse(url) : url
  if (!parsed) return undefined
  const bare = parsed.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "")
  return bare === "" ? undefined : (mappedAddress(bare) ?? bare)
}

/** The IPv4 form of a mapped IPv6 address: `::ffff:7f00:1` is 127.0.0.1. The URL parser writes it in hexadecimal. */
function mappedAddress(host: string): string | undefined {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host) ?? []
  if (high === undefined || low === undefined) return undefined
  const bits = [high, low].map((part) => Number.parseInt(part, 16))
  return bits.flatMap((part) => [part >> 8, part & 255]).join(".")
}

export interface UrlRule {
  /** A pattern: `domain:example.com`, `example.com`, `*.example.com`, `*`, or a URL, where a trailing `*` matches any continuation. */
  readonly pattern: string
  /** Whether a domain includes its subdomains: true for restricting rules, false for allowing ones. */
  readonly withSubdomains: boolean
}

type UrlPattern =
  | { readonly kind: "any" }
  | { readonly kind: "href"; readonly href: string; readonly isPrefix: boolean }
  | { readonly kind: "domain"; readonly domain: string; readonly isWildcard: boolean }

/** Whether a rule's pattern matches a URL. */
export function matchesUrl(url: string, rule: UrlRule): boolean {
  const pattern = parsePattern(rule)
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

/** Whether the pattern can match any URL. */
export const canMatchUrl = (rule: UrlRule): boolean => parsePattern(rule) !== undefined

function parsePattern({ pattern, withSubdomains }: UrlRule): UrlPattern | undefined {
  const bare = pattern.trim().replace(/^domain:/i, "")
  if (bare.includes("://")) {
    const isPrefix = bare.endsWith("*")
    const href = hrefOf(isPrefix ? bare.slice(0, -1) : bare)
    return href === undefined ? undefined : { kind: "href", href, isPrefix }
  }
  if (bare === "*") return { kind: "any" }
  const isWildcard = bare.startsWith("*.")
  const text = isWildcard ? bare.slice(2) : bare
  // paths are not compared, so an allowing rule must not contain one
  if (!withSubdomains && /[/\\?#]/.test(text)) return undefined
  const domain = domainIn(text)
  return domain === undefined || /[*\s]/.test(domain) ? undefined : { kind: "domain", domain, isWildcard }
}

/** Normalizes a domain with the parser of URL hosts, so that case, other scripts and trailing dots make no difference. */
function domainIn(text: string): string | undefined {
  const needsBrackets = isIP(text) === 6
  return hostOf(`http://${needsBrackets ? `[${text}]` : text}/`)
}

/** The URL without user name and fragment, which do not affect the fetched page. */
function hrefOf(text: string): string | undefined {
  const url = URL.parse(text)
  const host = url && hostOf(url)
  if (!url || host === undefined) return undefined
  const port = url.port === "" ? "" : `:${url.port}`
  return `${url.protocol}//${host}${port}${url.pathname}${url.search}`
}

/** Whether a redirect remains on the same server: the same host with or without `www.`, on the same port or on https. */
export function isSameServer(from: URL, to: URL): boolean {
  const plain = (url: URL) => hostOf(url)?.replace(/^www\./, "")
  if (plain(from) === undefined || plain(from) !== plain(to)) return false
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:" && from.port === "" && to.port === ""
  return isUpgrade || (from.protocol === to.protocol && from.port === to.port)
}
