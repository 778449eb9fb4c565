/**
 * Erasing travels. The remote keeps marks of what was erased: hashes, no names and no texts. What a mark names is not sent again by a
 * machine that still has it.
 */
import { hashOf } from "@strata/core/memory-files"
import type { Here } from "./here.ts"
import { type ErasedMemory, erasedKey, identityOf, type SyncedChange, type SyncedMemories } from "./synced-memories.ts"

/** Paths that were erased on this machine since the last sync: its history, which was rewritten for that, no longer names them. */
export function erasedHere({ base, erasures, changes, snapshot }: Here): ReadonlySet<string> {
  if (!base || erasures <= base.erasures) return new Set() // a history that is merely lost erases nothing
  const named = pathsIn(changes)
  return new Set(base.paths.filter((path) => !named.has(path) && !snapshot.listings.has(path)))
}

/** Memories of this machine that were erased on another one since the last sync. */
export function erasedThere(here: Here, there: SyncedMemories): readonly string[] {
  const { base, files, changes } = here
  return [...new Set([...files.keys(), ...pathsIn(changes)])].filter((path) => {
    const erased = there.erased.get(erasedKey(path))
    if (!erased || base?.erased.includes(erasedKey(path))) return false
    return base !== undefined || textsOf({ files, changes }, path).some((copy) => erased.texts.includes(copy))
  })
}

/** All marks: those of the remote, and those for what this machine erased. */
export function marksOf(there: SyncedMemories, paths: ReadonlySet<string>): ReadonlyMap<string, ErasedMemory> {
  const marks = new Map(there.erased)
  for (const path of paths) {
    const texts = [...(marks.get(erasedKey(path))?.texts ?? []), ...textsOf(there, path)]
    marks.set(erasedKey(path), { texts: [...new Set(texts)].sort() })
  }
  return marks
}

/** The changes of both sides, without those that erasing rewrote and without edits of erased texts. */
export function remainingChanges(
  here: Here,
  there: SyncedMemories,
  marks: ReadonlyMap<string, ErasedMemory>,
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
      const texts = marks.get(erasedKey(path))?.texts ?? []
      return ![before, after].some((copy) => copy !== undefined && texts.includes(copy))
    })
    const left = files.length === change.files.length ? change : { ...change, files }
    if (files.length > 0) remaining.set(left === change ? id : identityOf(left), left)
  }
  return remaining
}

export const pathsIn = (changes: SyncedMemories["changes"]): ReadonlySet<string> =>
  new Set([...changes.values()].flatMap(({ files }) => files.map(({ path }) => path)))

/** Hashes of every text that a memory has had. */
function textsOf({ files, changes }: Pick<SyncedMemories, "files" | "changes">, path: string): readonly string[] {
  const now = files.get(path)
  const earlier = [...changes.values()].flatMap(({ files: edits }) =>
    edits.flatMap((edit) => (edit.path === path ? [edit.before, edit.after] : [])),
  )
  return [...earlier.filter((copy) => copy !== undefined), ...(now ? [hashOf(now.text)] : [])]
}
