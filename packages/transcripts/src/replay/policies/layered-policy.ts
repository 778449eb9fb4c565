/** Defines policies made of layers, and what the layers may need. */
import type { Layer } from "@strata/core"
import type { CompactionOptions, SessionMemory } from "@strata/core/policy"
import type { FigureName, Settings } from "@strata/core/settings"
import type { RecordedFiles } from "../recorded-files.ts"
import type { ServerMemory } from "../server-context.ts"

/** A policy whose layers run in the pipeline of a conversation. */
export interface LayeredPolicy {
  readonly name: string
  readonly about: string
  readonly layers: (parts: PolicyDependencies) => readonly Layer[]
  /** Settings that differ from the defaults. */
  readonly figures?: Partial<Record<FigureName, number>>
  readonly settings?: Partial<Settings>
  /** Whether the server remembers what the policy asked it to clear. Default: not needed. */
  readonly server?: ServerMemory
  /**
   * `recorded`: the recording's own compactions stay in place, and fetching content that left the view is not charged. Default: the
   * policy's own.
   */
  readonly compactions?: "own" | "recorded"
  /**
   * Cache lifetime that requests ask for, if the client can choose one. Default: as in the recorded client. `auto`: the planner decides.
   */
  readonly lifetime?: "auto" | "5m" | "1h"
  /**
   * Whether requests have a breakpoint at the end of the prompt, so that a compaction leaves the complete prompt cached. Default: as in the
   * recorded client.
   */
  readonly hasPromptBreakpoint?: boolean
  /** Whether the planner keeps the cache warm in pauses. Default: no. */
  readonly keepsWarm?: boolean
  /** Whether notes and memories are written, as in the chat by default. Default: no. */
  readonly remembers?: boolean
  /** Whether content that left the view can be found by a search. Default: no. */
  readonly recalls?: boolean
  /** Whether an offloaded result is read again from its file completely. Default: only the part around the needed text is recalled. */
  readonly readsFiles?: boolean
  /** Whether a name in the list of names after a compaction counts as in view. Default: yes. */
  readonly listsCount?: boolean
  /**
   * How summaries are written: by a fork that reads the conversation from the cache, or by a separate call that sends it again. Default: a
   * fork.
   */
  readonly summarizer?: Summarizer
}

/** Dependencies of a policy's layers. */
export interface PolicyDependencies extends Pick<LayeredPolicy, "keepsWarm"> {
  /** Files of the recording, for layers that attach some again. */
  readonly files: RecordedFiles
  /** The layer that writes notes. They are charged when they are written. */
  readonly notes: SessionMemory
  /** Timers whose time passes instantly. */
  readonly timing: NonNullable<CompactionOptions["timing"]>
}

export interface Summarizer {
  readonly kind: "fork" | "direct"
  /** Characters of a tool result that a direct call receives. Default: all. */
  readonly resultLimit?: number
}
