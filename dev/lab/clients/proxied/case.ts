/** Work that a client does twice: directly against a server, and through the proxy. */
import type { Done, StepContext } from "../step.ts"

/** One prompt, sent by a process of the client. */
export interface Prompt {
  readonly what: string
  /** Number of files that the model reads for this prompt. */
  readonly calls: number
  readonly command: (context: StepContext, earlier: readonly Done[]) => readonly string[]
  readonly forks?: boolean
  /** Whether the prompt may end without an answer, as a manual compaction does. */
  readonly isSilent?: boolean
}

export interface Case {
  readonly client: string
  readonly packages: readonly string[]
  /** Installed instead if the newest version cannot be. */
  readonly otherwise?: readonly string[]
  readonly what: string
  readonly prompts: readonly Prompt[]
  readonly files?: (context: StepContext) => Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Pause between two prompts. */
  readonly pauseMinutes: number
  /** Maximum cost through the proxy, as a share of the cost without it. */
  readonly goal: number
}
