/** What a door asks about each request, and what it tells about the answer. A door moves messages; a plan says which. */
import type { CallerIdentity } from "./callers.ts"

/** A request or an answer in the shape of the Messages API. Messages that came before may be the same objects: read them, and change nothing. */
export type Body = Readonly<Record<string, unknown>>

export interface Caller extends CallerIdentity {
  readonly name: string
}

export interface CallerRequest {
  readonly caller: Caller
  readonly body: Body
  readonly betas?: readonly string[]
}

/** Ends with one call: `answered`, `brokeOff`, or a refusal for which there is no other body. */
export interface Plan {
  /** What is sent. `undefined`: the caller's own request. */
  readonly body: Body | undefined
  /** Why a request that is ours passes untouched, if it does. */
  readonly passedThrough?: string
  /** It is not sent. The caller gets this sentence as an error, and nothing else is called. */
  readonly refusal?: string
  /** By which a client knows what to do after `refusal`: the API's `error.details.error_code`. Without one, the person said no. */
  readonly refusalCode?: string
  /** A tool of ours in `body`. The caller must not see its calls. */
  readonly hiddenTool?: string
  /** An answer that has come whole. If it only asks our tool, what is sent next: its answer continues this one. */
  again(answer: Body): Promise<Body | undefined>
  /** The last answer, with the calls of our tool. Awaited before the caller gets its end. */
  answered(answer: Body): Promise<void>
  /** The server refused it before the first byte of an answer. A body in return is sent in its place; the caller does not see the refusal. */
  refused(refusal: Refusal): Promise<Body | undefined>
  /** The answer broke off, or the caller went away. What came so far. */
  brokeOff(partial: Body | undefined): Promise<void>
}

export interface Refusal {
  readonly status: number
  /** The parsed body, or its text. */
  readonly error: unknown
  /** The second refusal: a body in return is not sent any more. */
  readonly isFinal?: boolean
}

/** The server has forgotten the conversation: what the next request costs, in dollars. */
export interface PauseNotice {
  readonly conversation: string
  readonly minutes: number
  readonly cost: number
  /** Without us. */
  readonly direct: number
}

export interface ConversationStatus {
  /** Strata's id: the name of the journal. */
  readonly id: string
  /** The caller's own id, and the owner, if they were named. */
  readonly conversation?: string
  readonly owner?: string
  readonly title: string
  readonly client: string
  readonly requests: number
  /** Tokens of the last request, and what the client's own array would have had. */
  readonly sent: number
  readonly direct: number
  /** Which layers acted, and how often: `compaction: 3`. */
  readonly decisions: readonly string[]
  /** Share of input tokens, 0 to 1. */
  readonly cacheRead: number
  /** In dollars, of the requests that this process passed on and of our own; `undefined` where a price is unknown. */
  readonly cost: number | undefined
  readonly directCost: number | undefined
  /** Requests that a failure of ours left as they were, their part of the cost, and why the last one failed. Absent: none. */
  readonly passedThrough?: { readonly requests: number; readonly cost: number | undefined; readonly reason?: string }
  readonly isObserved: boolean
  /** Why it was switched off, if it was. */
  readonly off?: string
}
