/** `@strata/transcripts/replay`: simulates recorded conversations under other policies. It models the cost and calls no server. */
export type { TurnPhase } from "@strata/core/policy"
export { type Calibration, type CalibrationCause, type CalibrationPart, calibrate, causeText } from "./calibration.ts"
export { generatedWork, type WorkOptions } from "./generated-work.ts"
export { overrideModel } from "./model-override.ts"
export { ALL_POLICIES } from "./policies/all.ts"
export { AS_RECORDED } from "./policies/clearing-only.ts"
export { strata } from "./policies/strata.ts"
export type { Policy, RunOptions } from "./policy.ts"
export type { RecordedConversation, ReplayOptions } from "./recorded-steps.ts"
export {
  type Replay,
  type ReplayedAction,
  type ReplayInput,
  type ReplayReport,
  type ReplayTotals,
  replay,
  replayClearing,
} from "./replay.ts"
export type { ActionKind, PolicyAction } from "./replayed-actions.ts"
export {
  type AfterCompaction,
  type CacheLoss,
  CLASSES,
  type ContextClass,
  type NamesPreserved,
  PURPOSES,
  type Purpose,
  type ReplayedCompaction,
  type ReplayedRequest,
  type UsedAgain,
} from "./report.ts"
export { type CostUnit, requestCost, weigh } from "./request-cost.ts"
export {
  REFERENCES,
  type Reference,
  type Score,
  type Scorecard,
  type ScoredReplay,
  type ScoreShare,
  scorecard,
} from "./scorecard.ts"
export { type TimedInput, timedReplay } from "./timed-replay.ts"
