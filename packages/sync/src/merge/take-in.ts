/** Brings the memories of one place and those of a remote together: everything on this machine, and what the remote is to have afterwards. */

import type { MemoryBank } from "@strata/core"
import { MemoryChangedError } from "@strata/core"
import type { Clock } from "@strata/core/base"
import { StrataError } from "@strata/core/base"
import { SnapshotReader } from "@strata/core/memory-files"
import type { MemoryFiles } from "@strata/core/store"
import type { RemoteTrust } from "./decide.ts"
import { erasedThere } from "./erased.ts"
import { readHere } from "./here.ts"
import { installSync, noteBase } from "./install-sync.ts"
import { planSync, type SyncStep } from "./plan-sync.ts"
import { erasedKey, type SyncedMemories } from "./synced-memories.ts"

const MAX_ATTEMPTS = 100 // each failure means that another process succeeded

export interface TakeIn {
  readonly files: MemoryFiles
  /** Of the same place: it records edits made by hand first, and erases. */
  readonly bank: Pick<MemoryBank, "all" | "erase">
  readonly there: SyncedMemories
  /** The key of the remote, and its name for people. */
  readonly remote: string
  readonly title: string
  readonly trust: RemoteTrust
  readonly clock: Clock
  /** Changes nothing. */
  readonly isDryRun?: boolean
}

export interface TakenIn {
  readonly steps: readonly TakenStep[]
  /** What the remote is to have now. */
  readonly next: SyncedMemories
  /** To be called once the remote has it. */
  sent(): Promise<void>
}

export type TakenStep =
  | SyncStep
  /** It was erased for good on another machine, and here now too. */
  | { readonly what: "erased-here"; readonly file: string }
  /** It could not be erased yet. `why` is a sentence. */
  | { readonly what: "not-erased"; readonly file: string; readonly why: string }

/** Another process may change the memories meanwhile: then it starts again with what is there. */
export async function takeIn(given: TakeIn): Promise<TakenIn> {
  const erased: TakenStep[] = []
  for (let attempt = 1; ; attempt++) {
    try {
      return await takeInOnce(given, erased)
    } catch (error) {
      if (!(error instanceof MemoryChangedError) || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}

async function takeInOnce(given: TakeIn, erased: TakenStep[]): Promise<TakenIn> {
  const { files, bank, there, remote, title, trust, clock, isDryRun = false } = given
  await bank.all() // records edits made by hand
  const reader = new SnapshotReader(files, { readOnly: isDryRun })
  const first = await readHere(files, { reader, remote })
  // what others erase is only forgotten here: an erasure cannot be taken back
  const gone = trust === "mine" ? erasedThere(first, there) : []
  const unfinished = isDryRun ? gone : await eraseAll(gone, { bank, erased })
  const here = gone.length > 0 && !isDryRun ? await readHere(files, { reader, remote }) : first
  const plan = await planSync({ here, there, trust, title, unfinished: unfinished.map(erasedKey) })
  const shown = plan.steps.filter(({ what, file }) => !(isDryRun && what === "removed-here" && gone.includes(file)))
  if (isDryRun) {
    const steps = [...gone.map((file) => ({ what: "erased-here" as const, file })), ...shown]
    return { steps, next: plan.next, sent: async () => {} }
  }
  const before = await installSync({ files, reader, here, plan, remote, title, now: clock.now() })
  return {
    steps: [...erased, ...shown],
    next: plan.next,
    sent: async () => {
      await noteBase({ files, remote, before, base: plan.base.sent })
    },
  }
}

/** Those that could not be erased. */
async function eraseAll(
  gone: readonly string[],
  { bank, erased }: Pick<TakeIn, "bank"> & { readonly erased: TakenStep[] },
): Promise<readonly string[]> {
  const unfinished: string[] = []
  for (const file of gone)
    try {
      if (await bank.erase(file)) erased.push({ what: "erased-here", file })
    } catch (error) {
      if (!(error instanceof StrataError) || error.code !== "dream-running") throw error
      unfinished.push(file)
      erased.push({ what: "not-erased", file, why: error.message })
    }
  return unfinished
}
