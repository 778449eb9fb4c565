/**
 * Propagates erasures. For each erased memory, the remote stores a tombstone of hashes, without names or texts. Machines that still have
 * the memory do not send it again.
 */
import { hashOf } from "@strata/core/memory-files"
import type { LocalState } from "./local-state.ts"
import { type ErasedMemory, erasedKey, identityOf, type SyncedChange, type SyncedMemories } from "./synced-memories.ts"

/** Paths that were erased on this machine since the last sync. Erasing rewrites the local history, which no longer names them. */
export function erasedHere({ base, erasures, changes, snapshot }: LocalState): ReadonlySet<string> {
  if (!base || erasures <= base.erasures) return new Set() // a history that was lost by accident erases nothing
  const named = pathsIn(changes)
  return new Set(base.paths.filter((path) => !named.has(path) && !snapshot.listings.has(path)))
}

/** Memories of this machine that were erased on another one since the last sync. */
export function erasedThere(here: LocalState, there: SyncedMemories): readonly string[] {
  const { base, files, changes } = here
  return [...new Set([...files.keys(), ...pathsIn(changes)])].filter((path) => {
    const erased = there.erased.get(erasedKey(path))
    if (!erased || base?.erased.includes(erasedKey(path))) return false
    return base !== undefined || textsOf({ files, changes }, path).some((copy) => erased.texts.includes(copy))
  })
}

/** All tombstones: those of the remote, and new ones for the paths that this machine erased. */
export function collectTombstones(
  there: SyncedMemories,
  paths: ReadonlySet<string>,
): ReadonlyMap<string, ErasedMemory> {
  const tombstones = new Map(there.erased)
  for (const path of paths) {
    const texts = [...(tombstones.get(erasedKey(path))?.texts ?? []), ...textsOf(there, path)]
    tombstones.set(erasedKey(path), { texts: [...new Set(texts)].sort() })
  }
  return tombstones
}

/** The changes of both sides, without those that an erasure rewrote and without edits of erased texts. */
export function remainingChanges(
  here: LocalState,
  there: SyncedMemories,
  tombstones: ReadonlyMap<string, ErasedMemory>,
): ReadonlyMap<string, SyncedChange> {
  const isRewritten = (id: string) =>
    here.base !== undefined &&
    here.erasures > here.base.erasures &&
    here.base.changes.includes(id) &&
    !here.changes.has(id)
  const remaining = new Map<string, SyncedChange>()
  for (const [id, change] of [...there.changes, ...here.changes]) {
    if (isRewritten(id)) continue
    const files = change.files.filter(({ path, before, after }) => {
      const texts = tombstones.get(erasedKey(path))?.texts ?? []
      return ![before, after].some((copy) => copy !== undefined && texts.includes(copy))
    })
    const remainingChange = files.length === change.files.length ? change : { ...change, files }
    if (files.length > 0) remaining.set(remainingChange === change ? id : identityOf(remainingChange), remainingChange)
  }
  return remaining
}

export const pathsIn = (changes: SyncedMemories["changes"]): ReadonlySet<string> =>
  new Set([...changes.values()].flatMap(({ files }) => files.map(({ path }) => path)))

/** Hashes of every version of a memory. */
function textsOf({ files, changes }: Pick<SyncedMemories, "files" | "changes">, path: string): readonly string[] {
  const now = files.get(path)
  const earlier = [...changes.values()].flatMap(({ files: edits }) =>
    edits.flatMap((edit) => (edit.path === path ? [edit.before, edit.after] : [])),
  )
  return [...earlier.filter((copy) => copy !== undefined), ...(now ? [hashOf(now.text)] : [])]
}
