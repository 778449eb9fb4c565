/** The control endpoints. */
import { describe, expect, test } from "vitest"
import { hello, type Json, post, simulator } from "../test/simulator.ts"
import type { Simulator } from "./start.ts"

async function control(sim: Simulator, method: string, path: string, body?: unknown, token = sim.token) {
  const response = await fetch(`${sim.url}/_sim/${path}`, {
    method,
    headers: { "x-sim-token": token },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: (await response.json()) as Json }
}

describe("BEY-8 control endpoints", () => {
  test.each(["state", "stats", "log", "clock", "faults"])("/_sim/%s needs the token", async (path) => {
    const sim = await simulator()
    expect((await fetch(`${sim.url}/_sim/${path}`)).status).toBe(401)
    expect((await control(sim, "GET", path, undefined, "wrong")).status).toBe(401)
    expect((await control(sim, "GET", path)).status).toBe(200)
  })

  test("the clock can be moved", async () => {
    const sim = await simulator()
    const before = sim.clock.now()
    expect((await control(sim, "POST", "clock", { advance_ms: 3_600_000 })).json).toEqual({ now: before + 3_600_000 })
    expect(sim.clock.now()).toBe(before + 3_600_000)
  })

  test("the cache can be dropped before it expires", async () => {
    const sim = await simulator()
    const system = [{ type: "text", text: "stone ".repeat(600), cache_control: { type: "ephemeral" } }]
    const read = async () => ((await (await post(sim, hello({ system }))).json()) as Json).usage.cache_read_input_tokens
    await read()
    expect(await read()).toBeGreaterThan(0)
    expect((await control(sim, "DELETE", "cache")).json).toEqual({ cache_entries: 0 })
    expect(await read()).toBe(0)
    sim.forgetCache()
    expect(await read()).toBe(0)
  })

  test("faults can be set, added and removed", async () => {
    const sim = await simulator()
    await control(sim, "PUT", "faults", [{ fault: { kind: "overloaded" } }])
    expect((await post(sim, hello())).status).toBe(529)
    const { json } = await control(sim, "POST", "faults", { fault: { kind: "server-error" }, nth: 5 })
    expect(json).toEqual([
      { fault: { kind: "overloaded" }, hits: 1 },
      { fault: { kind: "server-error" }, nth: 5, hits: 0 },
    ])
    await control(sim, "DELETE", "faults")
    expect((await post(sim, hello())).status).toBe(200)
  })

  test("an unknown fault is refused with a clear message", async () => {
    const sim = await simulator()
    const { status, json } = await control(sim, "PUT", "faults", [{ fault: { kind: "earthquake" } }])
    expect(status).toBe(400)
    expect(json.error.message).toMatch(/^0\.fault: Input tag 'earthquake' found using 'kind' does not match/)
  })

  test("state, statistics and log show what happened", async () => {
    const sim = await simulator()
    await post(sim, hello())
    await post(sim, hello({ colour: "red" }))
    expect((await control(sim, "GET", "state")).json).toMatchObject({
      responder: "test",
      requests_answered: 1,
      seed: 1,
    })
    expect((await control(sim, "GET", "stats")).json).toMatchObject({
      total: { requests: 1 },
      errors: { invalid_request_error: 1 },
    })
    expect((await control(sim, "GET", "log")).json).toMatchObject([
      { status: 200, model: "claude-opus-5", stopReason: "end_turn" },
      { status: 400, error: "colour: Extra inputs are not permitted" },
    ])
  })
})
