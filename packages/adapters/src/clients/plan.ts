/** The plan for a request: what an adapter sends, and how it reports the response. An adapter moves messages; a plan chooses them. */
import type { ClientIdentity } from "./conversation-finder.ts"

/** A request or a response in the shape of the Messages API. Earlier messages may be shared objects and must not be modified. */
export type ApiBody = Readonly<Record<string, unknown>>

export interface ClientInfo extends ClientIdentity {
  readonly name: string
}

export interface ConversationRequest {
  readonly client: ClientInfo
  readonly body: ApiBody
  readonly betas?: readonly string[]
}

/** A plan ends with one call: `answered`, `brokeOff`, or a refusal that returns no other body. */
export interface RequestPlan {
  /** The body to send. `undefined`: the client's own request. */
  readonly body: ApiBody | undefined
  /** Why a request that Strata should manage passes unchanged, if it does. */
  readonly passedThrough?: string
  /** Set if the request is not sent. The client gets this sentence as an error, and no other method is called. */
  readonly refusal?: string
  /** The API's `error.details.error_code` for `refusal`, which tells a client what to do. Absent if the user refused. */
  readonly refusalCode?: string
  /** A Strata tool in `body`, whose calls must be hidden from the client. */
  readonly hiddenTool?: string
  /** Called with a complete response. If it calls only Strata's tool, returns the next body, whose response continues this one. */
  again(answer: ApiBody): Promise<ApiBody | undefined>
  /** Called with the last response, including calls of Strata's tool. It is awaited before the client receives the end. */
  answered(answer: ApiBody): Promise<void>
  /**
   * Called if the server refuses the request before the first byte of a response. A returned body is sent instead, and the client does not
   * see the refusal.
   */
  refused(refusal: Refusal): Promise<ApiBody | undefined>
  /** Called if the response was cut off or the client disconnected, with the partial response. */
  brokeOff(partial: ApiBody | undefined): Promise<void>
}

export interface Refusal {
  readonly status: number
  /** The parsed body, or its text. */
  readonly error: unknown
  /** Whether this is the second refusal, after which no other body is sent. */
  readonly isFinal?: boolean
}

/** The server's cache of the conversation has expired: the cost of the next request in dollars. */
export interface PauseNotice {
  readonly conversation: string
  readonly minutes: number
  readonly cost: number
  /** The cost without Strata. */
  readonly direct: number
}

export interface ConversationStatus {
  /** Strata's id, which is the name of the journal. */
  readonly id: string
  /** The client's own id and the owner, if given. */
  readonly conversation?: string
  readonly owner?: string
  readonly title: string
  readonly client: string
  readonly requests: number
  /** Tokens of the last request, and of the client's own list. */
  readonly sent: number
  readonly direct: number
  /** The layers that acted, with counts: `compaction: 3`. */
  readonly decisions: readonly string[]
  /** Share of input tokens that were read from the cache, 0 to 1. */
  readonly cacheRead: number
  /** Cost in dollars of the relayed requests and of Strata's own; `undefined` if a price is unknown. */
  readonly cost: number | undefined
  readonly directCost: number | undefined
  /** Requests that passed unchanged because Strata failed, their cost, and the reason of the last failure. Absent if there were none. */
  readonly passedThrough?: { readonly requests: number; readonly cost: number | undefined; readonly reason?: string }
  readonly isObserved: boolean
  /** Why it was switched off, if it was. */
  readonly off?: string
}
