/** A way to a summary. Each is tried in order; one that does not apply or fails leaves the conversation as it was. */
import type { FailureReason } from "../../../base/telemetry.ts"
import type { ModelResponse } from "../../../model/model.ts"
import type { CompactionOrder, RouteName } from "../../compaction-order.ts"
import type { LayerContext } from "../../layer.ts"
import type { Cut, CutInput } from "../cut.ts"

export interface RouteInput {
  readonly context: LayerContext
  readonly order: CompactionOrder
  /** What is to be summarised, unless the way has a summary that covers another part. */
  readonly cut: Cut
  readonly cutInput: CutInput
  /** The user's first, those of hooks after. */
  readonly instructions: readonly string[]
  /** Characters written so far. */
  readonly onProgress: (characters: number) => void
}

export type RouteOutcome =
  | {
      readonly kind: "summary"
      readonly text: string
      readonly cut: Cut
      /** What it was billed for. */
      readonly responses: readonly ModelResponse[]
    }
  /** It has nothing to offer here; that is no failure. */
  | { readonly kind: "passed"; readonly message: string }
  | {
      readonly kind: "failed"
      readonly why: FailureReason
      readonly message: string
      readonly responses: readonly ModelResponse[]
    }

export interface Route {
  readonly name: RouteName
  /** Whether its summary is too old to be taken where the context would stay at the threshold (L4-9). */
  readonly mustReachThreshold?: boolean
  /** Where it would cut, for a plan; `undefined` where it does not apply. */
  cut(input: RouteInput): Promise<Cut | undefined>
  summarise(input: RouteInput): Promise<RouteOutcome>
}
