/**
 * A policy decides how a conversation stays within its window, at what cost. All policies replay the same recording, with the same prices
 * and the same cache.
 */
import type { MeasuredRecording } from "./measured-recording.ts"
import type { PolicyRun } from "./report.ts"

export interface Policy {
  readonly name: string
  /** Description of the policy in one sentence. */
  readonly about: string
  /** @internal */
  run(recording: MeasuredRecording, options: RunOptions): Promise<PolicyRun>
}

export interface RunOptions {
  /** The model's window, if it differs from the recorded one. */
  readonly window?: number
  /** Seconds that a model takes to write a summary. */
  readonly summarySeconds?: number
}
