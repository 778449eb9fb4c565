/** `POST /v1/messages` and `POST /v1/messages/count_tokens`. */
import { setImmediate } from "node:timers/promises"
import type { HttpBindings } from "@hono/node-server"
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import type { Context } from "hono"
import { readJson } from "./admission.ts"
import type { Dialect } from "./api-dialect.ts"
import { DEFAULT_TIMEOUT_MS, type Fault, faultError } from "./faults.ts"
import { checkWindow, type Prompt, preparePrompt } from "./prepare.ts"
import type { RateMeter } from "./rate-headers.ts"
import type { LogEntry } from "./request-log.ts"
import { dueCompaction, respond } from "./respond.ts"
import type { Simulation } from "./simulation.ts"
import { priceOf } from "./statistics.ts"
import { type StreamOptions, streamBody } from "./stream.ts"
import type { Endpoint } from "./validate/body-schema.ts"
import { validate } from "./validate/validate.ts"
import type { ContentBlock, MessageResponse } from "./wire.ts"

export interface SimulatorEnv {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    dialect: Dialect
    /** Adds facts to the request's log entry. */
    note: (facts: Partial<LogEntry>) => void
  }
}
type SimulatorContext = Context<SimulatorEnv>

export const DEFAULT_WORKSPACE = "default"
const STREAM_HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" }

export async function createMessage(c: SimulatorContext, simulation: Simulation, meter: RateMeter) {
  const start = simulation.clock.now()
  const prompt = await readPrompt(c, simulation, "messages")
  checkWindow(prompt)
  const fault = chooseFault(c, simulation, prompt)
  const mayWait = fault !== undefined || prompt.request.body.stream === true // without a wait, nothing checks the client's signal
  const { signal: closing } = simulation.closing
  const signal = mayWait ? AbortSignal.any([c.req.raw.signal, closing]) : closing
  const conditions = {
    fault,
    clock: simulation.clock,
    signal,
    cutSocket: () => cutSocket(c),
    hold: () => whileHeld(simulation, (ms) => simulation.clock.sleep(ms, signal)),
  }
  await strike(prompt, conditions)

  const { message, begin } = await respond(prompt, simulation, {
    start,
    workspace: c.req.header("anthropic-workspace-id") ?? DEFAULT_WORKSPACE,
    compactionFails: fault?.kind === "failed-compaction",
  })
  begin()
  const { body, model } = prompt.request
  simulation.statistics.answered(model, message.usage)
  const { cache_read_input_tokens: read, output_tokens: output } = message.usage
  meter.count({ input: prompt.inputTokens - (read ?? 0), output }) // tokens read from the cache do not count towards the limit
  noteMessage(c, message, priceOf(model, message.usage))

  if (body.stream) return c.body(streamBody(message, conditions), 200, STREAM_HEADERS)
  if (fault?.kind !== "cut-socket") return c.json(withoutInternals(message))
  await cutSocket(c)
  return RESPONSE_ALREADY_SENT
}

export async function countTokens(c: SimulatorContext, simulation: Simulation) {
  const { inputTokens, originalTokens, request } = await readPrompt(c, simulation, "count_tokens")
  simulation.statistics.countedTokens()
  const edits = request.body.context_management
  return c.json({
    input_tokens: inputTokens,
    ...(edits && { context_management: { original_input_tokens: originalTokens } }),
  })
}

async function readPrompt(c: SimulatorContext, simulation: Simulation, endpoint: Endpoint): Promise<Prompt> {
  const dialect = c.get("dialect")
  const { incoming } = c.env
  const sent = { chunks: incoming, encoding: incoming.headers["content-encoding"] } // quicker than the stream of a `Request`
  const json = await readJson(sent, simulation.maxRequestBytes)
  const request = validate({
    endpoint,
    dialect,
    json,
    findModel: (name) => simulation.catalog.find(name, dialect.betas),
  })
  c.get("note")({ model: request.body.model, stream: request.body.stream === true })
  return preparePrompt(request, simulation)
}

function chooseFault(c: SimulatorContext, { faultRules }: Simulation, prompt: Prompt): Fault | undefined {
  const { body } = prompt.request
  const fault = faultRules.next({
    inputTokens: prompt.inputTokens,
    stream: body.stream === true,
    compacts: Boolean(body.compaction) || dueCompaction(prompt) !== undefined,
    // computed on demand: only one kind of fault needs it, and the messages can be long
    get hasMedia() {
      return /"type":"(?:image|document)"/.test(JSON.stringify(body.messages))
    },
  })
  if (fault) c.get("note")({ fault: fault.kind })
  return fault
}

/** The effect of a fault before the answer: makes the client wait, or throws the error to return. */
async function strike({ request: { body }, inputTokens }: Prompt, { fault, clock, signal, hold }: StreamOptions) {
  if (!fault) return
  if (fault.kind === "no-answer") await hold()
  if (fault.kind === "timeout") await clock.sleep(fault.afterMs ?? DEFAULT_TIMEOUT_MS, signal)
  if (fault.kind === "slow-stream" && !body.stream) await clock.sleep(fault.delayMs, signal)
  const error = faultError(fault, { model: body.model, inputTokens })
  if (error) throw error
}

/** Counts the requests that a fault delays indefinitely. */
async function whileHeld(simulation: Simulation, sleep: (ms: number) => Promise<void>): Promise<void> {
  simulation.held++
  try {
    await sleep(Number.MAX_SAFE_INTEGER)
  } finally {
    simulation.held--
  }
}

async function cutSocket(c: SimulatorContext) {
  await setImmediate() // lets pending output be sent first
  c.env.incoming.socket.destroy()
}

function noteMessage(c: SimulatorContext, { id, usage, stop_reason }: MessageResponse, dollars: number | undefined) {
  c.get("note")({
    messageId: id,
    input: {
      uncached: usage.input_tokens,
      read: usage.cache_read_input_tokens,
      written: usage.cache_creation_input_tokens,
    },
    output: usage.output_tokens,
    stopReason: stop_reason,
    ...(dollars !== undefined && { dollars }),
  })
}

export const withoutInternals = (message: MessageResponse) => ({ ...message, content: message.content.map(asSent) })

function asSent(block: ContentBlock): object {
  if (block.type === "other") return block.block
  if (block.type !== "tool_use") return block
  const { inputText: _, ...sent } = block
  return sent
}
