/** Starts a simulator in this process. */

import { randomBytes } from "node:crypto"
import type { Server } from "node:http"
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import { checkHost, checkKey, DEFAULT_MAX_REQUEST_BYTES } from "./admission.ts"
import { readDialect } from "./api-dialect.ts"
import { ApiError, invalidRequest } from "./api-error.ts"
import { batchRoutes } from "./batches.ts"
import { NON_STANDARD_HEADER } from "./cache-edits.ts"
import { type Clock, createClock } from "./clock.ts"
import { controlRoutes } from "./control.ts"
import type { FaultRule, Faults } from "./faults.ts"
import { fileRoutes } from "./files.ts"
import { countTokens, createMessage, type SimulatorEnv } from "./messages-route.ts"
import { listModels, type ModelOverrides, showModel } from "./models.ts"
import { pageOf, pageQuery } from "./paging.ts"
import { type RateLimits, RateMeter } from "./rate-headers.ts"
import type { LogEntry } from "./request-log.ts"
import type { Responder } from "./responder.ts"
import { DEFAULT_PAGES, type WebPage } from "./server-tools/pages.ts"
import { createSimulation, type Simulation } from "./simulation.ts"
import type { Statistics } from "./statistics.ts"
import type { BindingEnforcement } from "./thinking/binding.ts"

// The Skills API, limited to listing: the skills that Anthropic publishes. None can be created.

const PUBLISHED_AT = "2025-10-02T00:00:00Z"
const NAMES: Readonly<Record<string, string>> = { docx: "Word", pdf: "PDF", pptx: "PowerPoint", xlsx: "Excel" }
const SKILLS = Object.entries(NAMES).map(([id, display_name]) => ({
  id,
  type: "skill",
  display_name,
  latest_version_id: "20251002",
  source: { type: "anthropic" },
  created_at: PUBLISHED_AT,
  updated_at: PUBLISHED_AT,
}))

function skillRoutes() {
  const app = new Hono<SimulatorEnv>()
  app.get("/", (c) => {
    const { source } = c.req.query()
    const wanted = SKILLS.filter((skill) => source === undefined || skill.source.type === source)
    const page = pageOf(wanted, pageQuery(c.req.query()), "skill")
    return c.json({ ...page, next_page: page.has_more ? page.last_id : null })
  })
  app.get("/:id", (c) => {
    const id = c.req.param("id")
    const skill = SKILLS.find((each) => each.id === id)
    if (!skill) throw new ApiError(404, `Skill not found: ${id}`)
    return c.json(skill)
  })
  app.post("/", () => {
    throw invalidRequest("This server cannot create skills. It lists those that Anthropic publishes.")
  })
  return app
}

// The routes, and what they share: ids, keys, errors, the log.

const ORGANIZATION_ID = "00000000-0000-4000-8000-000000000000"

function createServer(simulation: Simulation, token: string) {
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

const LOOPBACK = "127.0.0.1"

export interface SimulatorOptions {
  /** Writes the answers. */
  readonly responder: Responder
  /** Default 0: any free port. */
  readonly port?: number
  /** Changes facts of models, or adds models: `{ "tiny-model": { window: 4000 } }`. */
  readonly models?: ModelOverrides
  /** Default: the machine's time, which `advance` moves forward. */
  readonly clock?: Clock
  readonly faults?: readonly FaultRule[]
  /** Seed of ids and random numbers. Default 1. */
  readonly seed?: number
  /** Receives one line per request. */
  readonly log?: (line: string) => void
  /** How thinking is treated that comes back after a different prompt. Default: as the model does. */
  readonly bindThinking?: BindingEnforcement
  /**
   * Simulates a server that is not Anthropic's: Claude Code's billing block is a part of the prompt and of its cache key. Default false.
   */
  readonly billingInPrompt?: boolean
  /** Turns on the non-standard cache editing mode. Default false. */
  readonly cacheEdits?: boolean
  /** The pages that the server tools `web_search` and `web_fetch` see. Default: five small pages. */
  readonly webPages?: readonly WebPage[]
  /** Simulates a newer server: it accepts blocks of these types in assistant messages, with any fields. Default: none. */
  readonly newBlockTypes?: readonly string[]
  /** Refuses betas the simulator does not know. Default false: like the API, it refuses only malformed ones. */
  readonly strictBetas?: boolean
  /** Refuses system messages on Sonnet 5 and Haiku 5.5, for which it is unknown whether the API accepts them. Default false. */
  readonly strictSystemMessages?: boolean
  /** Limits per minute in the response headers. They only inform. Default: those of a large account. */
  readonly rateLimits?: Partial<RateLimits>
  /** The accepted keys. Default: any key. */
  readonly apiKeys?: readonly string[]
  /** Default: 32 MB. */
  readonly maxRequestBytes?: number
  /** Token for the control endpoints. Default: random. */
  readonly token?: string
}

export interface Simulator {
  /** `http://127.0.0.1:<port>`: the base URL for an SDK. */
  readonly url: string
  readonly port: number
  /** Token for the control endpoints, sent in the header `x-sim-token`. */
  readonly token: string
  readonly clock: Clock
  readonly faults: Faults
  stats(): Statistics
  /** Drops all cache entries before they expire. */
  forgetCache(): void
  /** The latest requests. */
  readonly log: readonly LogEntry[]
  /** Number of requests that a fault delays indefinitely. */
  readonly held: number
  /** Ends all connections and frees the port. */
  close(): Promise<void>
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { token = randomBytes(16).toString("hex"), clock = createClock() } = options
  const simulation = createSimulation({
    responder: options.responder,
    clock,
    seed: options.seed ?? 1,
    models: options.models ?? {},
    faults: options.faults ?? [],
    apiKeys: options.apiKeys,
    maxRequestBytes: options.maxRequestBytes ?? DEFAULT_MAX_REQUEST_BYTES,
    bindThinking: options.bindThinking,
    billingInPrompt: options.billingInPrompt ?? false,
    cacheEdits: options.cacheEdits ?? false,
    webPages: options.webPages ?? DEFAULT_PAGES,
    newBlockTypes: options.newBlockTypes ?? [],
    strictBetas: options.strictBetas ?? false,
    strictSystemMessages: options.strictSystemMessages ?? false,
    rateLimits: options.rateLimits ?? {},
    onLog: options.log,
  })
  const app = createServer(simulation, token)
  const { server, port } = await listen(app.fetch, options.port ?? 0)
  return {
    url: `http://${LOOPBACK}:${port}`,
    port,
    token,
    clock,
    faults: simulation.faultRules,
    stats: () => simulation.statistics.snapshot(),
    forgetCache: () => simulation.cache.clear(),
    get log() {
      return simulation.requestLog.entries()
    },
    get held() {
      return simulation.held
    },
    close() {
      simulation.closing.abort()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function listen(fetch: Parameters<typeof serve>[0]["fetch"], port: number): Promise<{ server: Server; port: number }> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, port, hostname: LOOPBACK }, (address) =>
      resolve({ server, port: address.port }),
    ) as Server
    server.once("error", reject)
  })
}
