/** Plans how to take a change back: the texts from before it, merged with what changed since. */
import type { MemoryFiles } from "../journal/memory-files.ts"
import type { PlannedChange } from "./commit.ts"
import { loadChanges, readCopy, sourceOfCopy } from "./history.ts"
import { lessTrusted } from "./instruction-guard.ts"
import type { MemoryChange, Provenance } from "./memory.ts"
import { mergedWith } from "./plan-change.ts"
import type { Snapshot } from "./snapshot.ts"

export async function planRevert(options: {
  files: MemoryFiles
  snapshot: Snapshot
  change: MemoryChange
}): Promise<Pick<PlannedChange, "edits" | "sources" | "unarchived">> {
  const { files, snapshot, change } = options
  const textOf = async (copy: string | undefined) => (copy === undefined ? null : readCopy(files, copy))
  const wanted = new Map<string, string | null>()
  const base = new Map<string, string | null>()
  const unarchived = new Map<string, string>()
  const sources = new Map<string, Provenance>()
  const { changes } = await loadChanges(files)
  for (const { path, before, after, archived } of change.files) {
    const [old, fresh] = [await textOf(before), await textOf(after)]
    wanted.set(path, old)
    base.set(path, fresh)
    if (before !== undefined) sources.set(path, sourceOfCopy(changes, path, before))
    if (archived !== undefined && old !== null && (await files.read(archived)) === old) unarchived.set(archived, old)
  }
  const edits = await mergedWith({ edits: wanted, base, texts: snapshot.texts })
  // later edits stay in the text, so it is no more trusted than they are
  for (const [path, source] of sources)
    if (edits.get(path) !== wanted.get(path))
      sources.set(path, lessTrusted(source, snapshot.loaded.head.files[path]?.source ?? source))
  return { edits, sources, unarchived }
}
