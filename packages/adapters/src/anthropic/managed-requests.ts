/** Requests to `/v1/messages` of one wrapped client: each is followed in its conversation, and what is sent is that conversation's view. */
import { asBytes } from "../callers/body.ts"
import { type AnswerCourse, answerEvents, RefusedAgain } from "../callers/http/answer-events.ts"
import { answerJson } from "../callers/http/answer-json.ts"
import { namedIn } from "../callers/http/client-identity.ts"
import { HttpConversations, isMessagesBody } from "../callers/http/conversations.ts"
import { ParsedBodies } from "../callers/http/parsed-bodies.ts"
import type { Body, Plan } from "../callers/plan.ts"
import { wantsJson } from "../callers/spliced-answer.ts"
import type { StrataOptions } from "../options.ts"
import { type StrataStatus, shared, type Used } from "../shared.ts"

type Fetch = typeof fetch

const KEPT_BYTES = 64 * 1024 * 1024 // of earlier requests, to parse only what is new in the next

/** Per request, `{ headers: { "strata-conversation": id, "strata-owner": user } }`: the server does not get them. */
const OWN_HEADER = /^strata-/i
const OWNER_HEADER = "strata-owner"

interface ManagedRequestsOptions {
  readonly options: StrataOptions
  readonly used: Used<HttpConversations>
  readonly upstream: string
  readonly fetch: Fetch
}

export class ManagedRequests implements StrataStatus {
  /** The conversations of the client and of those made of it. */
  readonly used: Used<HttpConversations>
  readonly #options: StrataOptions
  readonly #upstream: string
  readonly #fetch: Fetch
  readonly #known = new ParsedBodies(KEPT_BYTES)

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
    this.#conversationsOf(this.#options.owner) // doors with the same options share them
    return this.used.status()
  }

  async #answer(call: Call, init: RequestInit | undefined): Promise<Response> {
    const conversation = namedIn(call.headers) ?? this.#options.conversation
    const conversations = this.#conversationsOf(call.headers[OWNER_HEADER] ?? this.#options.owner)
    const plan = await conversations.take({ ...call, conversation })
    return new Course(plan, (body) => this.#fetch(call.url, { ...init, ...sentInit(init, body) })).run()
  }

  #conversationsOf(owner: string | undefined): HttpConversations {
    const own = owner === undefined ? this.#options : { ...this.#options, owner }
    const way = { upstream: this.#upstream, fetch: this.#fetch }
    return this.used.add(shared(`anthropic ${this.#upstream}`, own, (given) => new HttpConversations(given, way)))
  }
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

function callIn(input: string | URL, init: RequestInit | undefined, known: ParsedBodies): Call | undefined {
  const url = new URL(input)
  const body = known.parse(Buffer.from(init?.body as string))
  return isMessagesBody(body)
    ? { url, headers: Object.fromEntries(new Headers(init?.headers)), query: url.search, body }
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
