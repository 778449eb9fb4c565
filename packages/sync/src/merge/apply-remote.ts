/**
 * Merges the memories of one project with those of a remote: applies the result on this machine and returns the new state of the remote.
 */

import type { MemoryBank } from "@strata/core"
import { MemoryChangedError } from "@strata/core"
import type { Clock } from "@strata/core/base"
import { StrataError } from "@strata/core/base"
import { SnapshotReader } from "@strata/core/memory-files"
import type { MemoryFiles } from "@strata/core/store"
import type { RemoteTrust } from "./decide.ts"
import { erasedThere } from "./erasures.ts"
import { installSync, saveSyncRecord } from "./install-sync.ts"
import { readLocalState } from "./local-state.ts"
import { planSync, type SyncStep } from "./plan-sync.ts"
import { erasedKey, type SyncedMemories } from "./synced-memories.ts"

const MAX_ATTEMPTS = 100 // each failure means that another process succeeded

export interface ApplyRemoteOptions {
  readonly files: MemoryFiles
  /** The memory bank of the same project, which records manual edits first and erases memories. */
  readonly bank: Pick<MemoryBank, "all" | "erase">
  readonly there: SyncedMemories
  /** Key of the remote. */
  readonly remote: string
  readonly title: string
  readonly trust: RemoteTrust
  readonly clock: Clock
  /** Plans only and changes nothing. */
  readonly isDryRun?: boolean
}

export interface ApplyRemoteResult {
  readonly steps: readonly MemoryStep[]
  /** The new state of the remote. */
  readonly next: SyncedMemories
  /** To be called once the push has succeeded. */
  sent(): Promise<void>
}

export type MemoryStep =
  | SyncStep
  /** The memory was erased on another machine and is now erased here too. */
  | { readonly what: "erased-here"; readonly file: string }
  /** The memory could not be erased yet. `why` is a sentence. */
  | { readonly what: "not-erased"; readonly file: string; readonly why: string }

/** If another process changes the memories meanwhile, it starts again from the new state. */
export async function applyRemote(options: ApplyRemoteOptions): Promise<ApplyRemoteResult> {
  const erased: MemoryStep[] = []
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyRemoteOnce(options, erased)
    } catch (error) {
      if (!(error instanceof MemoryChangedError) || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}

async function applyRemoteOnce(options: ApplyRemoteOptions, erased: MemoryStep[]): Promise<ApplyRemoteResult> {
  const { files, bank, there, remote, title, trust, clock, isDryRun = false } = options
  await bank.all() // records manual edits
  const reader = new SnapshotReader(files, { readOnly: isDryRun })
  const first = await readLocalState(files, { reader, remote })
  // an erasure cannot be undone, so one from other users is applied as forgetting only
  const erasedElsewhere = trust === "mine" ? erasedThere(first, there) : []
  const unfinished = isDryRun ? erasedElsewhere : await eraseAll(erasedElsewhere, { bank, erased })
  const here = erasedElsewhere.length > 0 && !isDryRun ? await readLocalState(files, { reader, remote }) : first
  const plan = await planSync({ here, there, trust, title, unfinished: unfinished.map(erasedKey) })
  const displayed = plan.steps.filter(
    ({ what, file }) => !(isDryRun && what === "removed-here" && erasedElsewhere.includes(file)),
  )
  if (isDryRun) {
    const steps = [...erasedElsewhere.map((file) => ({ what: "erased-here" as const, file })), ...displayed]
    return { steps, next: plan.next, sent: async () => {} }
  }
  const before = await installSync({ files, reader, here, plan, remote, title, now: clock.now() })
  return {
    steps: [...erased, ...displayed],
    next: plan.next,
    sent: async () => {
      await saveSyncRecord({ files, remote, before, base: plan.base.sent })
    },
  }
}

/** Erases what it can and returns the paths that could not be erased. */
async function eraseAll(
  paths: readonly string[],
  { bank, erased }: Pick<ApplyRemoteOptions, "bank"> & { readonly erased: MemoryStep[] },
): Promise<readonly string[]> {
  const unfinished: string[] = []
  for (const file of paths)
    try {
      if (await bank.erase(file)) erased.push({ what: "erased-here", file })
    } catch (error) {
      if (!(error instanceof StrataError) || error.code !== "dream-running") throw error
      unfinished.push(file)
      erased.push({ what: "not-erased", file, why: error.message })
    }
  return unfinished
}
