/** Shared by the proxy's tests: a server that responds exactly as a test writes, and proxies with planners that record their calls. */
import { once } from "node:events"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { onTestFinished } from "vitest"
import {
  type ConversationStatus,
  newSecret,
  type ProxyOptions,
  type RequestPlan,
  type RequestPlanner,
  startProxy,
} from "../../src/proxy/index.ts"

export type Json = Readonly<Record<string, unknown>>

export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

export interface RawUpstream {
  readonly url: string
  readonly received: readonly ReceivedRequest[]
}

type Handler = (response: ServerResponse, received: ReceivedRequest) => unknown

export async function rawUpstream(handler: Handler): Promise<RawUpstream> {
  const received: ReceivedRequest[] = []
  const server = createServer(async (incoming, response) => {
    const { method = "", url = "", rawHeaders, headers } = incoming
    const body = await buffer(incoming)
    const one = { method, url, rawHeaders, headers, body }
    received.push(one)
    // the connection may be cut off in the middle of a response
    await Promise.resolve(handler(response, one)).catch(() => response.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

/** The calls that the plans received, in order. */
export interface Course {
  readonly plans: RequestPlanner
  readonly calls: { readonly name: string; readonly value: unknown }[]
  /** Resolves with the value of the next such call. */
  called(name: string): Promise<unknown>
}

type Planned = Partial<RequestPlan> | undefined

export function remembering(
  plan: (request: Parameters<RequestPlanner["take"]>[0]) => Planned | Promise<Planned> = () => ({}),
  rows: readonly ConversationStatus[] = [],
): Course {
  const calls: Course["calls"] = []
  const waiting: { name: string; resolve: (value: unknown) => void }[] = []
  const note = (name: string, value: unknown) => {
    calls.push({ name, value })
    for (const one of waiting.filter((each) => each.name === name)) one.resolve(value)
  }
  const plans: RequestPlanner = {
    async take(asked) {
      note("take", asked)
      const own = await plan(asked)
      if (own === undefined) return undefined
      return {
        body: own.body,
        ...(own.passedThrough !== undefined && { passedThrough: own.passedThrough }),
        ...(own.hiddenTool !== undefined && { hiddenTool: own.hiddenTool }),
        async again(message) {
          note("again", message)
          return own.again?.(message)
        },
        async answered(message) {
          note("answered", message)
          await own.answered?.(message)
        },
        async refused(refusal) {
          note("refused", refusal)
          return own.refused?.(refusal)
        },
        async brokeOff(partial) {
          note("brokeOff", partial)
          await own.brokeOff?.(partial)
        },
      }
    },
    status: async () => rows,
    close: async () => {},
  }
  return {
    plans,
    calls,
    called: (name) => {
      const earlier = calls.find((call) => call.name === name)
      if (earlier) return Promise.resolve(earlier.value)
      return new Promise((resolve) => waiting.push({ name, resolve }))
    },
  }
}

export const SECRET = newSecret()

export async function proxy(options: Omit<ProxyOptions, "secret"> & { readonly secret?: string }) {
  const started = await startProxy({ secret: SECRET, ...options })
  onTestFinished(() => started.close())
  return started
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** Whether the response ended normally. */
  readonly isComplete: boolean
}

export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>> | readonly string[]
  readonly body?: string | Buffer
}

/** A client that adds nothing and hides nothing. */
export async function ask(url: string, { method = "POST", headers = {}, body }: RawRequest = {}): Promise<RawAnswer> {
  const { answer } = await begin(url, { method, headers, ...(body !== undefined && { body }) })
  const chunks: Buffer[] = []
  const isComplete = await (async () => {
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
    return answer.complete
  })().catch(() => false)
  const { statusCode = 0, rawHeaders } = answer
  return { status: statusCode, headers: answer.headers, rawHeaders, body: Buffer.concat(chunks), isComplete }
}

export async function begin(url: string, { method = "POST", headers = {}, body }: RawRequest = {}) {
  const { hostname, port, pathname, search } = new URL(url)
  const outgoing = request({
    agent: false,
    method,
    hostname,
    port,
    path: pathname + search,
    headers: Array.isArray(headers) ? headers : { ...headers },
  })
  outgoing.end(body)
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage]
  outgoing.on("error", () => {})
  return { answer, leave: () => outgoing.destroy() }
}

export const HELLO = JSON.stringify({
  model: "claude-opus-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
})

/** A stream in the API's format. */
export const eventText = (events: readonly Json[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")

export const ANSWER_EVENTS: readonly Json[] = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-opus-5",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 25, cache_read_input_tokens: 7, output_tokens: 1 },
    },
  },
  { type: "ping" },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Grüße 🙂" } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2ln" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "", citations: null } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hello\n" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "you" } },
  { type: "content_block_delta", index: 1, delta: { type: "citations_delta", citation: { type: "x", at: 1 } } },
  { type: "content_block_stop", index: 1 },
  {
    type: "content_block_start",
    index: 2,
    content_block: { type: "tool_use", id: "toolu_1", name: "Read", input: {} },
  },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"b": 1.0,' } },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: ' "a":"ü"}' } },
  { type: "content_block_stop", index: 2 },
  { type: "content_block_start", index: 3, content_block: { type: "hologram", beam: { of: "light" } } },
  { type: "content_block_delta", index: 3, delta: { type: "beam_delta", colour: "green" } },
  { type: "content_block_stop", index: 3 },
  { type: "weather", is: "fine" },
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 40 },
    context_management: { applied_edits: [] },
  },
  { type: "message_stop" },
]

export const ANSWER_MESSAGE: Json = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-5",
  content: [
    { type: "thinking", thinking: "Grüße 🙂", signature: "c2ln" },
    { type: "text", text: "Hello\nyou", citations: [{ type: "x", at: 1 }] },
    { type: "tool_use", id: "toolu_1", name: "Read", input: { b: 1, a: "ü" } },
    { type: "hologram", beam: { of: "light" }, colour: "green" },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 25, cache_read_input_tokens: 7, output_tokens: 40 },
  context_management: { applied_edits: [] },
}
