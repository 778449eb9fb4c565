import { describe, expect, test } from "vitest"
import type { ConversationStatus } from "../../src/proxy/index.ts"
import { ask, proxy, rawUpstream, remembering } from "./raw-upstream.ts"

const ROW: ConversationStatus = {
  id: "3f09",
  title: "Fix <script>alert(1)</script>",
  client: 'claude "2"',
  requests: 12,
  sent: 41_000,
  direct: 180_000,
  decisions: ["compacted & kept 3", "<b>"],
  cacheRead: 0.953,
  cost: 1.5,
  directCost: 2.25,
  isObserved: false,
}
const ROWS = [ROW, { ...ROW, id: "4a", cost: undefined, isObserved: true, off: "three failures" }]

async function status(plans = remembering(undefined, ROWS).plans) {
  const upstream = await rawUpstream((response) => response.end("not ours"))
  const { url } = await proxy({ upstream: upstream.url, plans })
  return { upstream, get: (path: string, method = "GET") => ask(url + path, { method }) }
}

describe("BEY-11: the status of a proxy", () => {
  test("is a page with a row for each conversation, without anything that could run", async () => {
    const { get } = await status()
    const { status: code, headers, body } = await get("/_strata/")
    const page = body.toString()
    expect(code).toBe(200)
    expect(page.match(/<tr>/g)).toHaveLength(1 + ROWS.length)
    expect(page).toContain("Fix &lt;script&gt;alert(1)&lt;/script&gt;")
    expect(page).toContain("claude &quot;2&quot;")
    expect(page).toContain("compacted &amp; kept 3<br>&lt;b&gt;")
    expect(page).toContain("41,000")
    expect(page).toContain("95%")
    expect(page).toContain("off: three failures")
    expect(page).toContain("$1.50; direct $2.25 (without 1 of unknown price)")
    expect(page).not.toMatch(/<script|<b>|src=|href=/)
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" })
  })

  test("is JSON for programs", async () => {
    const { get } = await status()
    const { headers, body } = await get("/_strata/status")
    expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" })
    expect(JSON.parse(body.toString())).toEqual({ conversations: JSON.parse(JSON.stringify(ROWS)) })
  })

  test("never reaches the server, and says what there is", async () => {
    const { get, upstream } = await status()
    expect((await get("/_strata/other")).status).toBe(404)
    expect((await get("/_strata/status", "POST")).status).toBe(405)
    expect((await get("/_strata")).status).toBe(200)
    expect(upstream.received).toEqual([])
    await get("/_stratagem")
    expect(upstream.received).toHaveLength(1)
  })

  test("that cannot be read is an error of one sentence", async () => {
    const { plans } = remembering()
    const { get } = await status({ ...plans, status: () => Promise.reject(new TypeError("inside")) })
    const { status: code, body } = await get("/_strata/")
    expect(code).toBe(500)
    expect(body.toString()).toContain("The status cannot be read: TypeError.")
  })

  test("is empty before the first conversation", async () => {
    const { get } = await status(remembering().plans)
    expect((await get("/_strata/")).body.toString()).toContain("No conversations yet.")
  })
})
