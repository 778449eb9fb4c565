/** A step of a client: a process, what it gets, and how its output shows that it worked. */
import type { ChildOptions } from "./child.ts"

/** What a client gets to work with. */
export interface StepContext {
  /** The directory with `node_modules`. */
  readonly installed: string
  readonly home: string
  /** The simulator. */
  readonly url: string
}

/** One process of the client. */
export interface Step {
  readonly what: string
  readonly command: (place: StepContext, earlier: readonly Done[]) => readonly string[]
  /** Files to write first, by path. */
  readonly files?: (place: StepContext) => Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly input?: ChildOptions["input"]
  /** What the output of a run that worked matches. */
  readonly expected: RegExp
  /** Whether the client must ask for a summary in this step. */
  readonly compacts?: boolean
  /** Whether the step goes on in a copy of the conversation. */
  readonly forks?: boolean
  /** What the client says that this step cost, in dollars. */
  readonly bill?: (run: Done, earlier: readonly Done[]) => number
}

/** A step that has run. */
export interface Done {
  readonly stdout: string
  readonly version: string
  readonly forked: boolean
}
