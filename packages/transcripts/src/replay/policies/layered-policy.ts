/** A policy made of layers, and what they may need. */
import type { Layer } from "@strata/core"
import type { CompactionOptions, SessionMemory } from "@strata/core/policy"
import type { FigureName, Settings } from "@strata/core/settings"
import type { RecordedFiles } from "../recorded-files.ts"
import type { ServerMemory } from "../server-copy.ts"

/** The pipeline of a conversation runs the layers. */
export interface LayeredPolicy {
  readonly name: string
  readonly about: string
  readonly layers: (parts: PolicyParts) => readonly Layer[]
  /** Figures that differ from the defaults. */
  readonly figures?: Partial<Record<FigureName, number>>
  readonly settings?: Partial<Settings>
  /** Whether the server remembers what the policy asked it to clear. Default: it does not need to. */
  readonly server?: ServerMemory
  /** `recorded`: the recording's own compactions stay where they were, and nothing that left the view is charged. Default: the policy's own. */
  readonly compactions?: "own" | "recorded"
  /** How long what it sends stays cached, where the client can ask for it. Default: as the recorded client did it. `auto`: the planner decides. */
  readonly lifetime?: "auto" | "5m" | "1h"
  /** Whether it has a breakpoint at the end of the prompt, so that a compaction leaves the whole prompt cached. Default: as the recorded client did it. */
  readonly marksPrompt?: boolean
  /** Whether the planner keeps the cache warm in pauses. Default: no. */
  readonly keepsWarm?: boolean
  /** Whether notes and memories are written, as they are by default. Default: no. */
  readonly remembers?: boolean
  /** Whether what left the view can be found with a search. Default: no. */
  readonly recalls?: boolean
  /** Whether a result put aside is read again from its file, all of it. Default: the part around what is needed is recalled. */
  readonly readsFiles?: boolean
  /** Whether a name in the list of names after a compaction counts as in view. Default: yes. */
  readonly listsCount?: boolean
  /** Who writes summaries: a fork that reads the conversation from the cache, or a call of its own that sends it again. Default: a fork. */
  readonly summariser?: Summariser
}

/** What layers of a policy may need. */
export interface PolicyParts extends Pick<LayeredPolicy, "keepsWarm"> {
  /** Those of the recording, where layers show some again. */
  readonly files: RecordedFiles
  /** Keeps notes. They are charged when they are written. */
  readonly notes: SessionMemory
  /** Time that passes at once. */
  readonly timing: NonNullable<CompactionOptions["timing"]>
}

export interface Summariser {
  readonly kind: "fork" | "direct"
  /** Characters of a tool result that a direct call is given. Default: all. */
  readonly resultLimit?: number
}
