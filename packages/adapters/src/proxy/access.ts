/**
 * Access control of local servers: only programs on this machine that know the secret are admitted. A page in a browser is refused even if
 * it guessed the address, because browsers report which page sends a request, and to which host.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"

const LOOPBACK_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i
const SECRET = /^[\w-]{16,200}$/
/** Typed by the user, or requested by the server's own page. */
const OWN_SITES: ReadonlySet<string> = new Set(["none", "same-origin"])

export const newSecret = (): string => randomBytes(24).toString("base64url")

/** The secret is part of a path and must be too long to guess. */
export const isSecret = (text: string): boolean => SECRET.test(text)

export type AccessResult =
  /** The path after the secret, and the query with its question mark. */
  | { readonly kind: "admitted"; readonly path: string; readonly query: string }
  | { readonly kind: "refused"; readonly why: string }

export function checkAccess({ headers, rawHeaders, method, url = "" }: IncomingMessage, secret: string): AccessResult {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host")
  if (hosts.length !== 1 || !LOOPBACK_HOST.test(headers.host ?? ""))
    return refused("The Host header does not name this machine.")
  if (headers.origin !== undefined || method === "OPTIONS") return refused("Web pages cannot use this proxy.")
  const site = headers["sec-fetch-site"]
  if (site !== undefined && !OWN_SITES.has(String(site))) return refused("Web pages cannot use this proxy.")
  const [, given = "", path = "", query = ""] = /^\/([^/?]*)([^?]*)(.*)$/s.exec(url) ?? []
  if (!isEqual(given, secret)) return refused("The path must begin with the secret of this proxy.")
  return { kind: "admitted", path: path === "" ? "/" : path, query }
}

const refused = (why: string): AccessResult => ({ kind: "refused", why })

/** Compares in constant time. */
function isEqual(given: string, secret: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer")
  return timingSafeEqual(digest(given), digest(secret))
}
