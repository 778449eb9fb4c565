/** `@strata/core/replay`: what a recorded conversation would have cost under other policies. */
export { measureRecording, type ReplayOptions } from "./replay/measured-recording.ts"
export { NOTHING, POLICIES, type Policy, STRATA } from "./replay/policies.ts"
export type { RecordedConversation } from "./replay/recorded-steps.ts"
export {
  type CostUnit,
  type Replay,
  type ReplayedAction,
  type ReplayInput,
  type ReplayReport,
  type ReplayTotals,
  replay,
} from "./replay/replay.ts"
export type { ActionKind, PolicyAction } from "./replay/replayed-actions.ts"
export { type PolicyRun, type ReplayedRequest, runPolicy } from "./replay/run-policy.ts"
