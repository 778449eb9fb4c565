/** Looks again and again, and soon after the system reports a change of a file. The folder is watched: a file that is replaced has another inode. */
import { type FSWatcher, watch } from "node:fs"
import type { Clock } from "@strata/core"
import { callAfter } from "@strata/core/base"

const SETTLE_MS = 120 // several lines are written at once

export interface Following {
  readonly clock: Clock
  readonly everyMs: number
  readonly watched?: { readonly directory: string; readonly name: string }
  /** The next look waits for it. */
  readonly look: () => Promise<void>
}

/** Returns what ends it. */
export function followChanges({ clock, everyMs, watched, look }: Following): () => void {
  let isOver = false
  let isLooking = false
  let isDue = false
  let cancel = () => {}

  const next = (ms: number) => {
    cancel()
    cancel = isOver ? () => {} : callAfter(clock, ms, () => void looked())
  }
  const looked = async () => {
    isLooking = true
    isDue = false
    await look().catch(() => undefined) // the next look tries again
    isLooking = false
    next(isDue ? SETTLE_MS : everyMs)
  }
  const reported = () => {
    if (isDue) return
    isDue = true
    if (!isLooking) next(SETTLE_MS)
  }

  const watcher = watched && watchedFolder(watched, reported)
  next(everyMs)
  return () => {
    isOver = true
    cancel()
    watcher?.close()
  }
}

/** Nothing where the system cannot watch: the looks find changes too. */
function watchedFolder(
  { directory, name }: NonNullable<Following["watched"]>,
  onChange: () => void,
): FSWatcher | undefined {
  try {
    const watcher = watch(directory, (_event, changed) => {
      if (changed === null || changed === name) onChange()
    })
    watcher.on("error", () => watcher.close())
    watcher.unref()
    return watcher
  } catch {
    return undefined
  }
}
