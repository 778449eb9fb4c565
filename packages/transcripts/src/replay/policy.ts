/**
 * A policy: how a conversation is kept inside its window, and at what cost. Each says in words what it models. All of them replay the
 * same recording, with the same prices, the same cache and the same loss.
 */
import type { MeasuredRecording } from "./measured-recording.ts"
import type { PolicyRun } from "./report.ts"

export interface Policy {
  readonly name: string
  /** What it does, in one sentence. */
  readonly about: string
  /** @internal */
  run(recording: MeasuredRecording, options: RunOptions): Promise<PolicyRun>
}

export interface RunOptions {
  /** The model's window, where it is not the one that the recording used. */
  readonly window?: number
  /** How long a model takes to write a summary. */
  readonly summarySeconds?: number
}
