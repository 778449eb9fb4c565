/** The routes, and what all of them share: ids, keys, errors, the log. */
import { Hono } from "hono"
import { checkHost, checkKey } from "./admission.ts"
import { ApiError } from "./api-error.ts"
import { batchRoutes } from "./batches.ts"
import { NON_STANDARD_HEADER } from "./cache-edits.ts"
import { controlRoutes } from "./control.ts"
import { readDialect } from "./dialect.ts"
import { fileRoutes } from "./files.ts"
import { countTokens, createMessage, type SimulatorEnv } from "./messages-route.ts"
import { listModels, showModel } from "./models.ts"
import { pageQuery } from "./paging.ts"
import { RateMeter } from "./rate-headers.ts"
import type { LogEntry } from "./request-log.ts"
import type { Simulation } from "./simulation.ts"
import { skillRoutes } from "./skills.ts"

const ORGANIZATION_ID = "00000000-0000-4000-8000-000000000000"

export function createServer(simulation: Simulation, token: string) {
  const app = new Hono<SimulatorEnv>()
  const meter = new RateMeter(simulation.clock, simulation.rateLimits)

  app.use(async (c, next) => {
    const requestId = simulation.identity.next("req")
    const facts: Partial<LogEntry> = {}
    c.set("requestId", requestId)
    c.set("note", (more) => Object.assign(facts, more))
    const at = simulation.clock.now()
    await next()
    c.header("request-id", requestId)
    if (c.req.path.startsWith("/_sim/")) return
    const { method, path } = c.req
    simulation.requestLog.add({ at, requestId, method, path, status: c.res.status, ...facts })
  })
  app.use(async (c, next) => {
    checkHost(c.req.header("host"))
    await next()
  })
  app.use("/v1/*", async (c, next) => {
    checkKey(c.req.raw.headers, simulation.apiKeys)
    c.set("dialect", readDialect(c.req.raw.headers, simulation))
    if (simulation.cacheEdits) c.header(...NON_STANDARD_HEADER)
    await next()
    c.header("anthropic-organization-id", ORGANIZATION_ID)
    for (const [name, value] of Object.entries(meter.headers())) c.header(name, value)
  })

  app.post("/v1/messages", (c) => createMessage(c, simulation, meter))
  app.post("/v1/messages/count_tokens", (c) => countTokens(c, simulation))
  app.get("/v1/models", (c) => {
    return c.json(listModels(simulation.catalog, pageQuery(c.req.query())))
  })
  app.get("/v1/models/:id", (c) => c.json(showModel(simulation.catalog, c.req.param("id"))))
  app.route("/v1/messages/batches", batchRoutes(simulation))
  app.route("/v1/files", fileRoutes(simulation))
  app.route("/v1/skills", skillRoutes())
  app.route("/_sim", controlRoutes(simulation, token))

  app.notFound(() => {
    throw new ApiError(404, "Not found")
  })
  app.onError((thrown, c) => {
    const error =
      thrown instanceof ApiError ? thrown : new ApiError(500, `The simulator itself failed: ${thrown.message}`)
    simulation.statistics.failed(error.type)
    c.get("note")?.({ error: error.message })
    const headers = { "content-type": "application/json", ...error.headers }
    return new Response(JSON.stringify(error.toBody(c.get("requestId"))), { status: error.status, headers })
  })
  return app
}
