/** One step of a client: its process, its input, and the output that shows success. */
import type { ChildOptions } from "./child.ts"

/** Environment of a client's process: directories and the server. */
export interface StepContext {
  /** The directory with `node_modules`. */
  readonly installed: string
  readonly home: string
  /** URL of the simulator. */
  readonly url: string
}

/** One process of the client. */
export interface Step {
  readonly what: string
  readonly command: (context: StepContext, earlier: readonly Done[]) => readonly string[]
  /** Files to write first, by path. */
  readonly files?: (context: StepContext) => Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly input?: ChildOptions["input"]
  /** Pattern that the output of a successful run matches. */
  readonly expected: RegExp
  /** Whether the client must ask for a summary in this step. */
  readonly compacts?: boolean
  /** Whether the step continues in a fork of the conversation. */
  readonly forks?: boolean
  /** Cost of this step in dollars, as the client reports it. */
  readonly bill?: (run: Done, earlier: readonly Done[]) => number
}

/** A finished step. */
export interface Done {
  readonly stdout: string
  readonly version: string
  readonly forked: boolean
}
