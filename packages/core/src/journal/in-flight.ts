/**
 * Requests that were sent and whose cost is not in the journal yet. They are kept beside it, without a flush, so that a process that is
 * killed leaves what it had sent: the next opening takes it into the journal, as an estimate.
 */
import type { RequestSource } from "../base/enums.ts"
import type { Usage } from "../messages/messages.ts"
import type { DecisionOf } from "./entries.ts"

/** A request whose cost is not in the journal yet. */
export interface SentRequest {
  readonly id: string
  readonly purpose: RequestSource
  readonly model: string
  /** Estimated. Once the answer has begun: what the server counted, and an estimate of the output. */
  readonly usage: Usage
  /** When it was sent first: an ISO time. Absent in logs of earlier versions. */
  readonly at?: string
  /** The server's name for the answer, once it has begun. */
  readonly responseId?: string
}

/** Records requests from when they are sent until their cost is in the journal. */
export interface InFlightLog {
  /** Again for a request that is known: more is known about it now. */
  sent(request: SentRequest): void
  /** Its cost is in the journal, or it has cost nothing. */
  finished(id: string): void
}

/** What an earlier process left. */
export interface UnsettledRequests {
  unsettled(): readonly SentRequest[]
  /** They are in the journal. */
  clear(): void
}

/** What a request that was not answered in full cost, as far as it is known. */
export const estimateSpending = ({ id, purpose, model, usage, responseId = `unfinished-${id}` }: SentRequest) =>
  ({
    ...{ type: "strata", subtype: "spent", purpose, model, responseId, usage },
    estimated: true,
  }) as const satisfies DecisionOf<"spent"> & { readonly type: "strata" }
