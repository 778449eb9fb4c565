/** The control endpoints under `/_sim/`: read the state of a running simulator and change it. They need its token. */
import { timingSafeEqual } from "node:crypto"
import { Hono } from "hono"
import { bodyOf, readJson, TOKEN_HEADER } from "./admission.ts"
import { ApiError, invalidRequest } from "./api-error.ts"
import type { FaultKind, FaultRule } from "./faults.ts"
import type { SimulatorEnv } from "./messages-route.ts"
import type { Simulation } from "./simulation.ts"
import {
  boolean,
  type Fields,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Schema,
  string,
  tagged,
} from "./validate/schema.ts"

const MAX_CONTROL_BYTES = 1024 * 1024

export function controlRoutes(simulation: Simulation, token: string) {
  const app = new Hono<SimulatorEnv>()
  const { clock, faultRules, cache, requestLog, statistics } = simulation

  app.use(async (c, next) => {
    if (!sameToken(c.req.header(TOKEN_HEADER), token)) throw new ApiError(401, `${TOKEN_HEADER}: missing or wrong`)
    await next()
  })

  app.get("/state", (c) =>
    c.json({
      responder: simulation.responder.name,
      seed: simulation.seed,
      now: new Date(clock.now()).toISOString(),
      cache_entries: cache.size,
      requests_answered: simulation.turnsAnswered,
      bind_thinking: simulation.bindThinking ?? "by model",
      billing_in_prompt: simulation.billingInPrompt,
      cache_edits: simulation.cacheEdits,
      faults: faultRules.list(),
    }),
  )
  app.get("/stats", (c) => c.json(statistics.snapshot()))
  app.get("/log", (c) => c.json(requestLog.entries()))

  app.get("/clock", (c) => c.json({ now: clock.now() }))
  app.post("/clock", async (c) => {
    const { advance_ms } = await readAs<{ advance_ms: number }>(c.req.raw, object({ advance_ms: integer({ min: 0 }) }))
    clock.advance(advance_ms)
    return c.json({ now: clock.now() })
  })

  app.delete("/cache", (c) => {
    cache.clear()
    return c.json({ cache_entries: cache.size })
  })

  app.get("/faults", (c) => c.json(faultRules.list()))
  app.put("/faults", async (c) => {
    faultRules.set(await readAs<FaultRule[]>(c.req.raw, list(faultRule)))
    return c.json(faultRules.list())
  })
  app.post("/faults", async (c) => {
    faultRules.add(await readAs<FaultRule>(c.req.raw, faultRule))
    return c.json(faultRules.list())
  })
  app.delete("/faults", (c) => {
    faultRules.set([])
    return c.json([])
  })
  return app
}

const wholeNumber = integer({ min: 0 })
const atAnEvent = { afterEvents: optional(wholeNumber) }
const FAULT_FIELDS: Readonly<Record<FaultKind, Fields>> = {
  "rate-limit": { retryAfterSeconds: nullable(number({ min: 0 })) },
  overloaded: {},
  "server-error": {},
  timeout: { afterMs: optional(wholeNumber) },
  "stream-error": atAnEvent,
  "cut-socket": atAnEvent,
  "early-end": atAnEvent,
  "slow-stream": { delayMs: wholeNumber },
  "no-answer": {},
  stall: { ...atAnEvent, pings: optional(boolean) },
  endless: { what: oneOf("text", "thinking", "tool-input", "blocks", "pings", "line") },
  "invalid-request": { message: string() },
  "refused-media": {},
  "failed-compaction": {},
}

const faultRule = object({
  fault: tagged(FAULT_FIELDS, { by: "kind" }),
  nth: optional(integer({ min: 1 })),
  probability: optional(number({ min: 0, max: 1 })),
  overTokens: optional(wholeNumber),
  times: optional(integer({ min: 1 })),
})

async function readAs<T>(request: Request, schema: Schema): Promise<T> {
  const json = await readJson(bodyOf(request), MAX_CONTROL_BYTES)
  const issue = schema(json, "")
  if (issue) throw invalidRequest(issue.path ? `${issue.path}: ${issue.message}` : issue.message)
  return json as T
}

function sameToken(given: string | undefined, token: string): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}
