/**
 * Message batches, in memory. The requests of a batch are answered when its state is first asked for after it was made, so
 * nothing runs in the background and the result is the same each time. Answers cost half, as in the API.
 */
import type { Context } from "hono"
import { Hono } from "hono"
import { bodyOf, readJson } from "./admission.ts"
import type { Dialect } from "./api-dialect.ts"
import { ApiError, invalidRequest } from "./api-error.ts"
import { DEFAULT_WORKSPACE, type SimulatorEnv, withoutInternals } from "./messages-route.ts"
import { pageOf, pageQuery } from "./paging.ts"
import { checkWindow, preparePrompt } from "./prepare.ts"
import { respond } from "./respond.ts"
import type { Simulation } from "./simulation.ts"
import { anything, list, object, string } from "./validate/schema.ts"
import { validate } from "./validate/validate.ts"

const MAX_REQUESTS = 100_000
const BATCH_BYTES_FACTOR = 8 // 256 MB, where a single request may have 32 MB
const LIFETIME_MS = 24 * 60 * 60_000
const MAX_BATCHES = 100
const MAX_RESULT_BYTES = 64 * 1024 * 1024 // over all batches; the oldest are dropped first
const PRICE_FACTOR = 0.5

const createSchema = object({
  requests: list(object({ custom_id: string({ pattern: "^[a-zA-Z0-9_-]{1,64}$" }), params: anything }), {
    max: MAX_REQUESTS,
  }),
})

interface BatchRequest {
  readonly custom_id: string
  readonly params: unknown
}

type Outcome = "succeeded" | "errored" | "canceled"

interface Batch {
  readonly id: string
  readonly createdAt: number
  readonly workspace: string
  readonly dialect: Dialect
  readonly size: number
  /** The requests are dropped once they are answered. */
  requests: readonly BatchRequest[]
  counts: Record<Outcome, number>
  results: string
  endedAt?: number
  canceledAt?: number
  settling?: Promise<void>
}

export function batchRoutes(simulation: Simulation) {
  const app = new Hono<SimulatorEnv>()
  const batches = new Map<string, Batch>()

  const find = (id: string): Batch => {
    const batch = batches.get(id)
    if (!batch) throw new ApiError(404, `No message batch has the id ${id}`)
    return batch
  }
  const shown = (c: Context<SimulatorEnv>, batch: Batch) => describe(batch, new URL(c.req.url).origin)

  app.post("/", async (c) => {
    const json = await readJson(bodyOf(c.req.raw), simulation.maxRequestBytes * BATCH_BYTES_FACTOR)
    const requests = readRequests(json)
    const batch: Batch = {
      id: simulation.identity.next("msgbatch"),
      createdAt: simulation.clock.now(),
      workspace: c.req.header("anthropic-workspace-id") ?? DEFAULT_WORKSPACE,
      dialect: c.get("dialect"),
      size: requests.length,
      requests,
      counts: { succeeded: 0, errored: 0, canceled: 0 },
      results: "",
    }
    batches.set(batch.id, batch)
    dropOldest(batches)
    return c.json(shown(c, batch))
  })
  app.get("/", async (c) => {
    const newestFirst = [...batches.values()].toReversed()
    for (const batch of newestFirst) await settle(batch, simulation)
    const page = pageOf(newestFirst, pageQuery(c.req.query()), "message batch")
    return c.json({ ...page, data: page.data.map((batch) => shown(c, batch)) })
  })
  app.get("/:id", async (c) => {
    const batch = find(c.req.param("id"))
    await settle(batch, simulation)
    return c.json(shown(c, batch))
  })
  app.get("/:id/results", async (c) => {
    const batch = find(c.req.param("id"))
    await settle(batch, simulation)
    return c.body(batch.results, 200, { "content-type": "application/x-jsonl" })
  })
  app.post("/:id/cancel", (c) => {
    const batch = find(c.req.param("id"))
    if (batch.settling) return c.json(shown(c, batch)) // it has ended: there is nothing left to cancel
    const now = simulation.clock.now()
    batch.canceledAt = now
    const canceling = { ...shown(c, batch), processing_status: "canceling" }
    batch.counts.canceled = batch.size
    batch.results = batch.requests.map(({ custom_id }) => toLine(custom_id, { type: "canceled" })).join("")
    batch.requests = []
    batch.endedAt = now
    batch.settling = Promise.resolve()
    return c.json(canceling)
  })
  app.delete("/:id", (c) => {
    const { id, endedAt } = find(c.req.param("id"))
    if (endedAt === undefined)
      throw invalidRequest("A message batch can only be deleted after it has ended. Cancel it first.")
    batches.delete(id)
    return c.json({ id, type: "message_batch_deleted" })
  })
  return app
}

function readRequests(json: unknown): readonly BatchRequest[] {
  const issue = createSchema(json, "")
  if (issue) throw invalidRequest(issue.path ? `${issue.path}: ${issue.message}` : issue.message)
  const { requests } = json as { requests: readonly BatchRequest[] }
  if (requests.length === 0) throw invalidRequest("requests: List should have at least 1 item after validation, not 0")
  const ids = new Set(requests.map(({ custom_id }) => custom_id))
  if (ids.size < requests.length) throw invalidRequest("requests: custom_id must be unique for each request")
  return requests
}

/** Answers the requests of a batch, once. */
function settle(batch: Batch, simulation: Simulation): Promise<void> {
  batch.settling ??= (async () => {
    for (const { custom_id, params } of batch.requests) {
      const result = await answer(params, batch, simulation)
      batch.counts[result.type]++
      batch.results += toLine(custom_id, result)
    }
    batch.requests = []
    batch.endedAt = simulation.clock.now()
  })()
  return batch.settling
}

async function answer(params: unknown, { dialect, workspace }: Batch, simulation: Simulation) {
  try {
    const request = validate({
      endpoint: "messages",
      dialect,
      json: params,
      findModel: (name) => simulation.catalog.find(name, dialect.betas),
    })
    if (request.body.stream) throw invalidRequest("stream: streaming is not supported in a message batch")
    const prompt = preparePrompt(request, simulation)
    checkWindow(prompt)
    const options = { start: simulation.clock.now(), workspace, compactionFails: false }
    const { message, begin } = await respond(prompt, simulation, options)
    begin()
    simulation.statistics.answered(request.model, message.usage, PRICE_FACTOR)
    const usage = { ...message.usage, service_tier: "batch" }
    return { type: "succeeded" as const, message: { ...withoutInternals(message), usage } }
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    return { type: "errored" as const, error: thrown.toBody(simulation.identity.next("req")) }
  }
}

const toLine = (custom_id: string, result: object) => `${JSON.stringify({ custom_id, result })}\n`

function describe(batch: Batch, origin: string) {
  const { id, createdAt, endedAt, canceledAt, counts, size } = batch
  const moment = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString())
  return {
    id,
    type: "message_batch",
    processing_status: endedAt === undefined ? "in_progress" : "ended",
    request_counts: { processing: endedAt === undefined ? size : 0, ...counts, expired: 0 },
    created_at: moment(createdAt),
    expires_at: moment(createdAt + LIFETIME_MS),
    ended_at: moment(endedAt),
    cancel_initiated_at: moment(canceledAt),
    archived_at: null,
    results_url: endedAt === undefined ? null : `${origin}/v1/messages/batches/${id}/results`,
  }
}

function dropOldest(batches: Map<string, Batch>): void {
  let bytes = [...batches.values()].reduce((sum, { results }) => sum + results.length, 0)
  for (const [id, { results }] of batches) {
    if (batches.size <= MAX_BATCHES && bytes <= MAX_RESULT_BYTES) return
    batches.delete(id)
    bytes -= results.length
  }
}
