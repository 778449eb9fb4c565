/**
 * `withStrata(new Anthropic())`: the same client, whose conversations go on without end. What it sends to `/v1/messages` is replaced on its
 * way; everything else passes. So all its forms work as before: `create`, `stream`, `parse`, tool runners, beta.
 */
import { asBytes } from "@strata/core/internal/callers/body"
import { type AnswerCourse, answerEvents, RefusedAgain } from "@strata/core/internal/callers/http/answer-events"
import { answerJson } from "@strata/core/internal/callers/http/answer-json"
import { namedIn } from "@strata/core/internal/callers/http/client-identity"
import { HttpConversations, isMessagesBody } from "@strata/core/internal/callers/http/conversations"
import { ParsedBodies } from "@strata/core/internal/callers/http/parsed-bodies"
import type { Body, Plan } from "@strata/core/internal/callers/plan"
import { wantsJson } from "@strata/core/internal/callers/spliced-answer"
import type { StrataOptions } from "./options.ts"
import { type StrataStatus, shared, Used } from "./shared.ts"

export type { StrataOptions } from "./options.ts"
export { type ConversationStatus, closeStrata, type StrataStatus, strataStatus } from "./shared.ts"

type Fetch = typeof fetch

/** A client of the Anthropic SDK, by its shape: the package need not be installed. */
export interface AnthropicSdkClient {
  readonly baseURL: string
  withOptions(options: { fetch: Fetch }): unknown
}

const KEPT_BYTES = 64 * 1024 * 1024 // of earlier requests, to parse only what is new in the next

/** Per request, `{ headers: { "strata-conversation": id, "strata-owner": user } }`: the server does not get them. */
const OWN_HEADER = /^strata-/i
const OWNER_HEADER = "strata-owner"

/**
 * @example
 * const client = withStrata(new Anthropic())
 * const answer = await client.messages.create({ model, max_tokens, tools, messages })
 */
export function withStrata<C extends AnthropicSdkClient>(
  client: C,
  options: StrataOptions = {},
): C & { readonly strata: StrataStatus } {
  if (typeof client.withOptions !== "function")
    throw new Error(
      "withStrata needs @anthropic-ai/sdk 0.50 or newer: older clients have no withOptions. Update the SDK.",
    )
  return managedClient(unmanaged.get(client) ?? client, { options, used: new Used() }) as never
}

/** What a client of ours was made of: one that is given twice is managed once, as the second one says. */
const unmanaged = new WeakMap<AnthropicSdkClient, AnthropicSdkClient>()

interface Managing {
  readonly options: StrataOptions
  /** The conversations of the client and of those made of it. */
  readonly used: Used<HttpConversations>
}

function managedClient(client: AnthropicSdkClient, { options, used }: Managing): AnthropicSdkClient {
  const send = (client as { readonly fetch?: Fetch }).fetch ?? fetch
  const way = { upstream: client.baseURL, fetch: send }
  const conversationsOf = (owner = options.owner) => {
    const own = owner === undefined ? options : { ...options, owner }
    return used.add(shared(`anthropic ${client.baseURL}`, own, (given) => new HttpConversations(given, way)))
  }
  const known = new ParsedBodies(KEPT_BYTES)
  const managed: Fetch = async (input, init) => {
    const call = callIn(input, init, known)
    if (!call) return send(input, init)
    const answer = async () => {
      const conversation = namedIn(call.headers) ?? options.conversation
      const plan = await conversationsOf(call.headers[OWNER_HEADER]).take({ ...call, conversation })
      return new Course(plan, (body) => send(call.url, { ...init, ...sentInit(init, body) })).run()
    }
    return unlessAborted(answer(), init?.signal)
  }
  const status = () => {
    conversationsOf() // doors with the same options share them
    return used.status()
  }
  const made = client.withOptions({ fetch: managed }) as AnthropicSdkClient
  unmanaged.set(made, client)
  const configurable = true
  // a copy has the status too, as its type says; it may have another server or another `fetch`
  const copy = (more: { fetch: Fetch }) =>
    managedClient(client.withOptions(more) as AnthropicSdkClient, { options, used })
  return Object.defineProperties(made, {
    strata: { value: { status }, configurable },
    withOptions: { value: copy, configurable },
  })
}

/** A caller that goes away does not wait for a compaction. What is under way finds that nothing can be sent, and ends. */
async function unlessAborted<T>(running: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return running
  const gone = Promise.withResolvers<never>()
  const leave = () => gone.reject(signal.reason)
  signal.addEventListener("abort", leave)
  if (signal.aborted) leave()
  try {
    return await Promise.race([running, gone.promise])
  } finally {
    signal.removeEventListener("abort", leave)
  }
}

interface Call {
  readonly url: URL
  readonly headers: Record<string, string>
  readonly query: string
  readonly body: Body
}

/** A call to `/v1/messages`. */
function callIn(input: Parameters<Fetch>[0], init: RequestInit | undefined, known: ParsedBodies): Call | undefined {
  if (input instanceof Request || init?.method?.toUpperCase() !== "POST" || typeof init.body !== "string")
    return undefined
  const url = new URL(input)
  if (!url.pathname.endsWith("/v1/messages")) return undefined
  const body = known.parse(Buffer.from(init.body))
  return isMessagesBody(body)
    ? { url, headers: Object.fromEntries(new Headers(init.headers)), query: url.search, body }
    : undefined
}

/** Without a body: the caller's own. */
function sentInit(init: RequestInit | undefined, body: Body | undefined): Pick<RequestInit, "headers" | "body"> {
  const headers = new Headers(init?.headers)
  for (const name of [...headers.keys()]) if (OWN_HEADER.test(name)) headers.delete(name)
  if (body === undefined) return { headers }
  headers.delete("content-length")
  return { headers, body: asBytes(body) }
}

/** A planned request, from the first byte sent to the last one answered. */
class Course {
  readonly #plan: Plan
  readonly #send: (body: Body | undefined) => Promise<Response>

  constructor(plan: Plan, send: (body: Body | undefined) => Promise<Response>) {
    this.#plan = plan
    this.#send = send
  }

  async run(): Promise<Response> {
    const plan = this.#plan
    if (plan.refusal !== undefined) return notSent(plan.refusal, plan.refusalCode)
    let answer = await this.#first(plan.body)
    for (let isFinal = false; !answer.ok; isFinal = true) {
      const error = await errorOf(answer.clone())
      const other = await plan.refused({ status: answer.status, error, ...(isFinal ? { isFinal } : {}) })
      if (other === undefined || isFinal) return answer
      answer = await this.#first(other)
    }
    const kind = answer.headers.get("content-type") ?? ""
    if (/^text\/event-stream\b/i.test(kind) && answer.body) return this.#events(answer, answer.body)
    return this.#json(answer)
  }

  async #first(body: Body | undefined): Promise<Response> {
    try {
      return await this.#send(body)
    } catch (error) {
      await this.#plan.brokeOff(undefined)
      throw error
    }
  }

  #events(answer: Response, source: ReadableStream<Uint8Array>): Response {
    const again = async (message: Body) => {
      const next = await this.#next(message)
      return next?.body ?? undefined
    }
    const course = { ...this.#course, again }
    const events = answerEvents(source, course)
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await events.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        async cancel(reason) {
          await events.return(undefined)
          await source.cancel(reason).catch(() => undefined)
        },
      },
      // read ahead to the end: the next request waits for this answer, also where the program never reads it
      { highWaterMark: Number.POSITIVE_INFINITY },
    )
    return new Response(body, { status: answer.status, headers: headersOf(answer) })
  }

  async #json(answer: Response): Promise<Response> {
    const whole = await bytesOf(answer)
    const again = async (message: Body) => {
      const next = await this.#next(message)
      return next && bytesOf(next)
    }
    try {
      const bytes = await answerJson(whole, { ...this.#course, again })
      return new Response(new Uint8Array(bytes), { status: answer.status, headers: headersOf(answer) })
    } catch (error) {
      if (!(error instanceof RefusedAgain)) throw error
      return new Response(new Uint8Array(error.bytes), { status: error.status, headers: headersOf(answer) })
    }
  }

  /** The answer that continues one. */
  async #next(message: Body): Promise<Response | undefined> {
    const body = await this.#plan.again(message)
    if (body === undefined) return undefined
    const next = await this.#send(body)
    if (next.ok) return next
    throw new RefusedAgain(next.status, await bytesOf(next))
  }

  get #course(): Omit<AnswerCourse, "again"> {
    return {
      hiddenTool: this.#plan.hiddenTool,
      isJson: wantsJson(this.#plan.body ?? {}),
      whole: (message) => this.#plan.answered(message),
      brokenOff: (partial) => this.#plan.brokeOff(partial),
    }
  }
}

const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer())

async function errorOf(answer: Response): Promise<unknown> {
  const text = await answer.text().catch(() => "")
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** It is unpacked already, and may be longer than it was. */
function headersOf({ headers }: Response): Headers {
  const kept = new Headers(headers)
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) kept.delete(name)
  return kept
}

function notSent(message: string, code: string | undefined): Response {
  const error = { type: "invalid_request_error", message, ...(code ? { details: { error_code: code } } : {}) }
  return Response.json({ type: "error", error }, { status: 400 })
}
