/** What a client goes through twice: directly in front of a server, and with the proxy between them. */
import type { Done, StepContext } from "../step.ts"

/** One prompt: a process of the client. */
export interface Prompt {
  readonly what: string
  /** How many files the model reads for it. */
  readonly calls: number
  readonly command: (place: StepContext, earlier: readonly Done[]) => readonly string[]
  readonly forks?: boolean
  /** It need not end with an answer: a compaction by hand. */
  readonly isSilent?: boolean
}

export interface Case {
  readonly client: string
  readonly packages: readonly string[]
  /** Installed instead if the newest cannot be. */
  readonly otherwise?: readonly string[]
  readonly what: string
  readonly prompts: readonly Prompt[]
  readonly files?: (place: StepContext) => Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Between two prompts. */
  readonly pauseMinutes: number
  /** The cost through the proxy, as a share of the cost without it, that must not be exceeded. */
  readonly goal: number
}
