/** The interface for planning requests. The proxy moves bytes; a plan chooses them. */
import type { IncomingHttpHeaders } from "node:http"
import type { ConversationStatus, RequestPlan } from "../clients/plan.ts"

/** A client's request to `/v1/messages`, parsed once. */
export interface ClientRequest {
  readonly headers: IncomingHttpHeaders
  /** Includes the question mark, or is empty. */
  readonly query: string
  /** Earlier messages are the same objects as before and must not be modified. */
  readonly body: Readonly<Record<string, unknown>>
  /** The received bytes, decompressed. */
  readonly raw: Buffer
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** Decides what is sent instead of a client's request, and learns from the response. */
export interface RequestPlanner {
  /**
   * `undefined` if the request passes unchanged because Strata does not manage it. Own failures do not throw: the returned plan reports
   * them.
   */
  take(request: ClientRequest): Promise<RequestPlan | undefined>
  /** One row for each conversation. */
  status(): Promise<readonly ConversationStatus[]>
  close(): Promise<void>
}
