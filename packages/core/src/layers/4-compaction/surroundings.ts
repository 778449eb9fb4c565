/** What is around a conversation that is compacted: what its tools have read, hooks, and what the person wants of summaries. */
import type { ReadState } from "../../tools/tool.ts"
import type { CompactionOrder, CompactionProgress } from "../compaction-order.ts"
import type { ExcludedPaths, ReadFileAgain } from "./restore/files.ts"

export interface Surroundings {
  /** What the tools have read. */
  readonly reads?: ReadState
  /** Paths that are not read again: instruction files, and our own files. */
  readonly excluded?: () => ExcludedPaths
  /** Whether a file known only from the journal may be read again without asking. Default: no. */
  readonly mayRead?: (path: string) => boolean
  /** Where files are read again. Default: from disk. */
  readonly readFile?: ReadFileAgain
  readonly hooks?: CompactionHooks
  /** What every summary should focus on: from instruction files and settings. */
  readonly guidance?: () => readonly string[]
  /** No one is there to answer questions. */
  readonly autonomous?: boolean
}

type Trigger = CompactionOrder["trigger"]

interface HookRun {
  readonly signal?: AbortSignal
  /** Called before a hook runs, for the person's screen. */
  readonly progress?: (progress: CompactionProgress) => void
}

/** A hook that fails changes nothing: its failure is only reported to the person. The signal ends hooks that run. */
export interface CompactionHooks {
  before(about: HookRun & { readonly trigger: Trigger; readonly instructions: string }): Promise<{
    readonly instructions: string
    readonly messages: readonly string[]
    readonly blocked?: string | undefined
  }>
  started(about?: HookRun): Promise<{
    readonly contexts: readonly { readonly hook: string; readonly text: string }[]
    readonly messages: readonly string[]
  }>
  after(about: { readonly trigger: Trigger; readonly summary: string; readonly signal?: AbortSignal }): Promise<{
    readonly messages: readonly string[]
  }>
}
