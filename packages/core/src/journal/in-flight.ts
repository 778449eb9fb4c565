/**
 * Requests that were sent and whose cost is not in the journal yet. They are stored next to it without a flush, so that a killed process
 * leaves a record of what it had sent. The next opening adds it to the journal as an estimate.
 */
import type { RequestSource } from "../base/enums.ts"
import type { Usage } from "../messages/messages.ts"
import type { DecisionOf } from "./entries.ts"

/** A request whose cost is not in the journal yet. */
export interface SentRequest {
  readonly id: string
  readonly purpose: RequestSource
  readonly model: string
  /** Estimated. Once the response has started: the server's count of the input, and an estimate of the output. */
  readonly usage: Usage
  /** When the request was first sent, as an ISO time. Absent in logs of earlier versions. */
  readonly at?: string
  /** The server's id of the response, once it has started. */
  readonly responseId?: string
}

/** Records requests from sending until their cost is in the journal. */
export interface InFlightLog {
  /** Called again for a known request when more is known about it. */
  sent(request: SentRequest): void
  /** The request's cost is in the journal, or it cost nothing. */
  finished(id: string): void
}

/** Requests that an earlier process left. */
export interface UnsettledRequests {
  unsettled(): readonly SentRequest[]
  /** Called once they are in the journal. */
  clear(): void
}

/** The estimated cost of a request without a complete response. */
export const estimateSpending = ({ id, purpose, model, usage, responseId = `unfinished-${id}` }: SentRequest) =>
  ({
    ...{ type: "strata", subtype: "spent", purpose, model, responseId, usage },
    estimated: true,
  }) as const satisfies DecisionOf<"spent"> & { readonly type: "strata" }
