/** Access control over real HTTP, with requests as other programs and websites on the machine would send them. */
import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeConversation } from "./made-conversation.ts"
import { sourceOf, startTrial, type TrialPages } from "./trial-pages.ts"

interface Answer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

const ask = (
  address: string,
  { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
) =>
  new Promise<Answer>((resolve, reject) => {
    const asked = request(address, { method, headers }, (answer) => {
      let body = ""
      answer.on("data", (piece) => {
        body += piece
      })
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }))
    })
    asked.on("error", reject)
    asked.end()
  })

describe("BEY-10 access to the page", () => {
  let dir: string
  let trial: TrialPages
  let cookie: string
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "strata-access-"))
    const { at: location } = await makeConversation({ dir, cwd: dir, rounds: 45 })
    trial = await startTrial(sourceOf({ work: { title: "Work", location } }))
    const { headers } = await ask(trial.page.address)
    cookie = String(headers["set-cookie"]).split(";")[0]!
  })
  afterAll(async () => {
    await trial.page.close()
    rmSync(dir, { recursive: true, force: true })
  })

  it("gives a cookie for the secret, only for its own path, and takes the secret out of the address", async () => {
    const { status, headers } = await ask(trial.page.address)
    expect(status).toBe(303)
    expect(headers.location).not.toContain("key")
    const path = new URL(trial.base).pathname
    expect(String(headers["set-cookie"])).toMatch(new RegExp(`; Path=${path}; HttpOnly; SameSite=Strict$`))
  })

  it("leaves idle connections to the browser, so that none is reset while its next request is on its way", async () => {
    const { status, headers } = await ask(trial.base, { headers: { cookie } })
    expect({ status, connection: headers.connection, limit: headers["keep-alive"] }).toEqual({
      ...{ status: 200, connection: "keep-alive", limit: undefined },
    })
  })

  it("opens once with a key that others may have read, and always with the person's own", async () => {
    const once = trial.page.addressOnce("work")
    const first = await ask(once)
    expect(first.status).toBe(303)
    expect(first.headers.location).toMatch(/\/c\/work$/)
    expect((await ask(once)).status).toBe(403)
    expect((await ask(trial.page.address)).status).toBe(303)
  })

  it.each([
    ["no cookie", {}],
    ["a wrong cookie", { cookie: "strata-page=x" }],
    ["another host", { cookie: "OWN", host: "evil.example:80" }],
    ["a name that resolves to loopback", { cookie: "OWN", host: "127.0.0.1.evil.example" }],
    ["another site", { cookie: "OWN", origin: "http://evil.example" }],
    ["another port of this host", { cookie: "OWN", origin: "http://127.0.0.1:1" }],
  ])("shows nothing with %s", async (_why, given: Record<string, string>) => {
    const headers = { ...given, ...(given.cookie === "OWN" ? { cookie } : {}) }
    for (const path of ["/", "/c/work/context", "/c/work/rows?from=0", "/style.css", "/script/page.js", "/nothing"]) {
      const { status, body } = await ask(`${trial.base}${path}`, { headers })
      expect({ path, status }).toEqual({ path, status: 403 })
      expect(body).not.toContain("Task 1")
    }
  })

  it.each([
    ["without an origin", { "x-strata-page": "1" }],
    ["without our header", { origin: "OWN" }],
    ["from another site", { origin: "http://evil.example", "x-strata-page": "1" }],
  ])("changes nothing for a request %s", async (_why, given: Record<string, string>) => {
    const origin = given.origin === "OWN" ? { origin: new URL(trial.base).origin } : {}
    const { status } = await ask(`${trial.base}/c/work/undo`, {
      method: "POST",
      headers: { cookie, ...given, ...origin },
    })
    expect(status).toBe(403)
  })

  it("sends a strict policy with every answer, and no page to another origin", async () => {
    const { headers } = await ask(`${trial.base}/c/work/context`, { headers: { cookie } })
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'")
    expect(headers["access-control-allow-origin"]).toBeUndefined()
    expect(headers["referrer-policy"]).toBe("no-referrer")
    expect(headers["cache-control"]).toBe("no-store")
  })

  it("sends slices: no answer has more rows than a page shows", async () => {
    const { body } = await ask(`${trial.base}/c/work/rows?from=0&count=1000000`, { headers: { cookie } })
    expect(body.match(/<article/g)!.length).toBe(100)
    const none = await ask(`${trial.base}/c/work/rows?from=99999999&count=-5`, { headers: { cookie } })
    expect(none.body).toBe("")
  })

  it.each(["..%2f..%2fetc%2fpasswd", "%00", "__proto__", "constructor", "../work", "a".repeat(5_000)])(
    "takes no id for a path: %s",
    async (id) => {
      const { status, body } = await ask(`${trial.base}/c/${id}/context`, { headers: { cookie } })
      expect([404, 400, 431]).toContain(status)
      expect(body).not.toContain("root:")
    },
  )
})
