/**
 * Access control. The server listens on loopback, where every program and website on this machine can reach it. A request must therefore
 * name this host, come from this page, and contain the secret. The secret is in the URL once; afterwards it is a cookie that is sent only
 * to this page's path. Other local servers on the same host do not get the cookie, because they have a different path.
 */
import { randomBytes, timingSafeEqual } from "node:crypto"
import type { MiddlewareHandler } from "hono"
import { getCookie, setCookie } from "hono/cookie"

const SECRET_BYTES = 24
const PATH_BYTES = 6
const COOKIE = "strata-page"
/** A form of another site cannot send this header without a preflight request, which is refused. */
export const OWN_HEADER = "x-strata-page"

export interface PageAccess {
  /** Base path of all pages, such as `/5f2a…`. */
  readonly base: string
  /** Path of the first request, with the secret. */
  readonly entryPath: string
  /** A path with a one-time key, for arguments of a program, which others on this machine can read. */
  oneTimeEntryPath(): string
  readonly check: MiddlewareHandler
}

export interface PageAccessOptions {
  /** Returns the port once the server is listening. */
  readonly port: () => number
  readonly random?: (bytes: number) => Buffer
}

/** Headers of every response: no external content, only Strata's own scripts, no embedding in frames. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
}

export function createPageAccess({ port, random = randomBytes }: PageAccessOptions): PageAccess {
  const secret = random(SECRET_BYTES).toString("base64url")
  const base = `/${random(PATH_BYTES).toString("hex")}`
  const once = new Set<string>()
  const isKey = (given: string) => isEqual(given, secret) || once.delete(given)
  const hosts = () => [`127.0.0.1:${port()}`, `localhost:${port()}`]
  const check: MiddlewareHandler = async (context, next) => {
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value)
    const host = context.req.header("host") ?? ""
    if (!hosts().includes(host)) return context.text("This address is not the page's own.", 403)
    const origin = context.req.header("origin")
    if (origin !== undefined && !hosts().some((own) => origin === `http://${own}`))
      return context.text("Another site asked for this. Nothing was shown.", 403)
    const given = context.req.query("key")
    if (given !== undefined && context.req.method === "GET" && isKey(given)) {
      setCookie(context, COOKIE, secret, { path: base, httpOnly: true, sameSite: "Strict" })
      const to = context.req.query("to")
      return context.redirect(to === undefined ? `${base}/` : `${base}/c/${encodeURIComponent(to)}`, 303)
    }
    if (!isEqual(getCookie(context, COOKIE) ?? "", secret))
      return context.text("Open the address that the terminal shows: it has the key of this page.", 403)
    if (context.req.method !== "GET" && (origin === undefined || context.req.header(OWN_HEADER) !== "1"))
      return context.text("Only the page itself can change something.", 403)
    return next()
  }
  const oneTimeEntryPath = () => {
    const key = random(SECRET_BYTES).toString("base64url")
    once.add(key)
    return `${base}/?key=${key}`
  }
  return { base, entryPath: `${base}/?key=${secret}`, oneTimeEntryPath, check }
}

function isEqual(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)]
  return a.length === b.length && timingSafeEqual(a, b)
}
