/** Requests of one wrapped client to `/v1/messages`: each is followed in its conversation and replaced by that conversation's view. */
import { asBytes } from "../clients/body.ts"
import { type AnswerHandlers, answerEvents, ContinuationRefused } from "../clients/http/answer-events.ts"
import { answerJson } from "../clients/http/answer-json.ts"
import { namedIn } from "../clients/http/client-identity.ts"
import { HttpConversations, isMessagesBody } from "../clients/http/http-conversations.ts"
import { ParsedBodies } from "../clients/http/parsed-bodies.ts"
import { wantsJson } from "../clients/merged-answer.ts"
import type { ApiBody, RequestPlan } from "../clients/plan.ts"
import { type LatestStatus, type StrataStatus, sharedConversations } from "../conversation-pool.ts"
import type { StrataOptions } from "../options.ts"

type Fetch = typeof fetch

const MAX_KNOWN_BYTES = 64 * 1024 * 1024 // bytes of earlier requests, so that only new messages of the next one are parsed

/** Headers for Strata, such as `{ headers: { "strata-conversation": id, "strata-owner": user } }`, which are not sent to the server. */
const OWN_HEADER = /^strata-/i
const OWNER_HEADER = "strata-owner"

interface ManagedRequestsOptions {
  readonly options: StrataOptions
  readonly used: LatestStatus<HttpConversations>
  readonly upstream: string
  readonly fetch: Fetch
}

export class ManagedRequests implements StrataStatus {
  /** The conversations of the client and its copies. */
  readonly used: LatestStatus<HttpConversations>
  readonly #options: StrataOptions
  readonly #upstream: string
  readonly #fetch: Fetch
  readonly #known = new ParsedBodies(MAX_KNOWN_BYTES)

  constructor({ options, used, upstream, fetch }: ManagedRequestsOptions) {
    this.used = used
    this.#options = options
    this.#upstream = upstream
    this.#fetch = fetch
  }

  async send(input: string | URL, init: RequestInit | undefined): Promise<Response> {
    const call = callIn(input, init, this.#known)
    return call ? unlessAborted(this.#answer(call, init), init?.signal) : this.#fetch(input, init)
  }

  status() {
    this.#conversationsOf(this.#options.owner) // wrapped clients with the same options share them
    return this.used.status()
  }

  async #answer(call: MessagesCall, init: RequestInit | undefined): Promise<Response> {
    const conversation = namedIn(call.headers) ?? this.#options.conversation
    const conversations = this.#conversationsOf(call.headers[OWNER_HEADER] ?? this.#options.owner)
    const plan = await conversations.take({ ...call, conversation })
    return new AnswerRelay(plan, (body) => this.#fetch(call.url, { ...init, ...sentInit(init, body) })).run()
  }

  #conversationsOf(owner: string | undefined): HttpConversations {
    const own = owner === undefined ? this.#options : { ...this.#options, owner }
    const way = { upstream: this.#upstream, fetch: this.#fetch }
    return this.used.add(
      sharedConversations(`anthropic ${this.#upstream}`, own, (given) => new HttpConversations(given, way)),
    )
  }
}

/**
 * Rejects at once when the client aborts, without waiting for a compaction. The running work then finds that it cannot send anything, and
 * ends.
 */
async function unlessAborted<T>(running: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return running
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener("abort", abort)
  if (signal.aborted) abort()
  try {
    return await Promise.race([running, aborted.promise])
  } finally {
    signal.removeEventListener("abort", abort)
  }
}

interface MessagesCall {
  readonly url: URL
  readonly headers: Record<string, string>
  readonly query: string
  readonly body: ApiBody
}

function callIn(input: string | URL, init: RequestInit | undefined, known: ParsedBodies): MessagesCall | undefined {
  const url = new URL(input)
  const body = known.parse(Buffer.from(init?.body as string))
  return isMessagesBody(body)
    ? { url, headers: Object.fromEntries(new Headers(init?.headers)), query: url.search, body }
    : undefined
}

/** Headers and body of the request. Without `body`, the client's own body is sent. */
function sentInit(init: RequestInit | undefined, body: ApiBody | undefined): Pick<RequestInit, "headers" | "body"> {
  const headers = new Headers(init?.headers)
  for (const name of [...headers.keys()]) if (OWN_HEADER.test(name)) headers.delete(name)
  if (body === undefined) return { headers }
  headers.delete("content-length")
  return { headers, body: asBytes(body) }
}

/** Runs a planned request, from the first byte sent to the end of its response. */
class AnswerRelay {
  readonly #plan: RequestPlan
  readonly #send: (body: ApiBody | undefined) => Promise<Response>

  constructor(plan: RequestPlan, send: (body: ApiBody | undefined) => Promise<Response>) {
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

  async #first(body: ApiBody | undefined): Promise<Response> {
    try {
      return await this.#send(body)
    } catch (error) {
      await this.#plan.brokeOff(undefined)
      throw error
    }
  }

  #events(answer: Response, source: ReadableStream<Uint8Array>): Response {
    const again = async (message: ApiBody) => {
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
      // read to the end eagerly: the next request waits for this response, even if the program never reads it
      { highWaterMark: Number.POSITIVE_INFINITY },
    )
    return new Response(body, { status: answer.status, headers: headersOf(answer) })
  }

  async #json(answer: Response): Promise<Response> {
    const whole = await bytesOf(answer)
    const again = async (message: ApiBody) => {
      const next = await this.#next(message)
      return next && bytesOf(next)
    }
    try {
      const bytes = await answerJson(whole, { ...this.#course, again })
      return new Response(new Uint8Array(bytes), { status: answer.status, headers: headersOf(answer) })
    } catch (error) {
      if (!(error instanceof ContinuationRefused)) throw error
      return new Response(new Uint8Array(error.bytes), { status: error.status, headers: headersOf(answer) })
    }
  }

  /** The response that continues the given one. */
  async #next(message: ApiBody): Promise<Response | undefined> {
    const body = await this.#plan.again(message)
    if (body === undefined) return undefined
    const next = await this.#send(body)
    if (next.ok) return next
    throw new ContinuationRefused(next.status, await bytesOf(next))
  }

  get #course(): Omit<AnswerHandlers, "again"> {
    return {
      hiddenTool: this.#plan.hiddenTool,
      isJson: wantsJson(this.#plan.body ?? {}),
      completed: (message) => this.#plan.answered(message),
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

/** Drops headers that no longer apply: the body is decompressed and may have another length. */
function headersOf({ headers }: Response): Headers {
  const kept = new Headers(headers)
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) kept.delete(name)
  return kept
}

function notSent(message: string, code: string | undefined): Response {
  const error = { type: "invalid_request_error", message, ...(code ? { details: { error_code: code } } : {}) }
  return Response.json({ type: "error", error }, { status: 400 })
}
