/**
 * Step 3, summarise. A route to a summary. Routes are tried in order. One that does not apply, or fails, leaves the conversation as it was.
 */
import type { FailureReason } from "../../../base/telemetry.ts"
import type { SignedSummary } from "../../../messages/messages.ts"
import type { ModelResponse } from "../../../model/model.ts"
import type { ModelFacts } from "../../../tokens/model-facts.ts"
import type { CompactionOrder, RouteName } from "../../compaction-order.ts"
import type { Cut } from "../cut.ts"
import type { Situation } from "../situation.ts"

export interface RouteInput extends Situation {
  /** The user's first, then those of hooks. */
  readonly instructions: readonly string[]
  /** Characters written so far. */
  readonly onProgress: (characters: number) => void
}

export type RouteOutcome =
  | {
      readonly kind: "summary"
      readonly text: string
      readonly cut: Cut
      /** The API signed it. */
      readonly signed?: Signed
      /** No one wrote it: it is quoted from the conversation. */
      readonly isQuoted?: true
      /** The answers that were paid for. */
      readonly responses: readonly ModelResponse[]
    }
  /** The route does not apply here. That is not a failure. */
  | { readonly kind: "passed"; readonly message: string }
  | {
      readonly kind: "failed"
      readonly why: FailureReason
      readonly message: string
      readonly responses: readonly ModelResponse[]
    }

/** A summary as the API signed it. It can be sent as long as nothing in it is changed. */
export interface Signed extends Pick<SignedSummary, "model" | "block"> {
  /** What it says. A summary of other words is no longer this one. */
  readonly says: string
  /** What the check found: it cannot be mended inside. */
  readonly notes?: string
}

export interface Route {
  readonly name: RouteName
  /** Refuse its summary where the context would stay at the threshold: the summary may be old. */
  readonly mustReachThreshold?: boolean
  /** Where it would cut, for a plan; `undefined` where it does not apply. */
  cut(input: RouteInput): Promise<Cut | undefined>
  summarise(input: RouteInput): Promise<RouteOutcome>
  /** What a call of its own reads, and the model that reads it. Absent where the conversation's request is read. */
  reads?(input: RouteInput): { readonly facts: ModelFacts; readonly tokens: number }
}

/** What a request for a summary is for. */
export const purposeOf = (trigger: CompactionOrder["trigger"]): "compaction" | "by-hand" =>
  trigger === "manual" ? "by-hand" : "compaction"
