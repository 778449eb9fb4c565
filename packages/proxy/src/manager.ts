/** What the proxy asks about each request, and what it tells about the answer. The proxy moves bytes; a manager decides which. */
import type { IncomingHttpHeaders } from "node:http"

/** A client's request to `/v1/messages`, parsed once. */
export interface ClientRequest {
  readonly headers: IncomingHttpHeaders
  /** With its question mark, or empty. */
  readonly query: string
  /** Messages that came before are the same objects as before: read them, and change nothing. */
  readonly body: Readonly<Record<string, unknown>>
  /** The bytes as they came, decompressed. */
  readonly raw: Buffer
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
}

/** Decides what is sent in place of a client's request, and learns from the answer. */
export interface Manager {
  /** `undefined`: the request is not ours and passes as it is. Never throws for a failure of its own: it then returns a plan that says so. */
  take(request: ClientRequest): Promise<Plan | undefined>
  /** One row for each conversation. */
  status(): Promise<readonly ConversationStatus[]>
  close(): Promise<void>
}

/** Ends with one call: `answered`, `brokeOff`, or a refusal for which there is no other body. */
export interface Plan {
  /** What is sent. `undefined`: the client's own bytes. */
  readonly body: string | Buffer | undefined
  /** Why a request that is ours passes untouched, if it does. Sent to the client in the header `strata-passed-through`. */
  readonly passedThrough?: string
  /** The person does not want it sent. The client gets this sentence as an error, and nothing else is called. */
  readonly refusal?: string
  /** The whole answer: the message as the API has it, put together from the stream where there was one. Awaited before the client gets the end of the answer. */
  answered(message: Readonly<Record<string, unknown>>): Promise<void>
  /** The server refused it before the first byte of an answer. A body in return is sent at once in its place; the client does not see the refusal. */
  refused(refusal: Refusal): Promise<string | Buffer | undefined>
  /** The answer broke off, or the client went away. What came so far. */
  brokeOff(partial: Readonly<Record<string, unknown>> | undefined): Promise<void>
}

export interface Refusal {
  readonly status: number
  /** The parsed body, or its text. */
  readonly error: unknown
  /** The second refusal: a body in return is not sent any more. */
  readonly isFinal?: boolean
}

export interface ConversationStatus {
  readonly id: string
  readonly title: string
  readonly client: string
  readonly requests: number
  /** Tokens of the last request, and what the client's own array would have had. */
  readonly sent: number
  readonly direct: number
  readonly decisions: readonly string[]
  /** Share of input tokens, 0 to 1. */
  readonly cacheRead: number
  /** In dollars, of the requests that this process passed on and of our own; `undefined` where a price is unknown. */
  readonly cost: number | undefined
  readonly directCost: number | undefined
  /** Requests that a failure of ours left as they were, and their part of the cost. Absent: none. */
  readonly passedThrough?: { readonly requests: number; readonly cost: number | undefined }
  readonly isObserved: boolean
  /** Why it was switched off, if it was. */
  readonly off?: string
}
