/** Plans how to take a change back: the texts from before it, merged with what changed since. */
import type { MemoryFiles } from "../journal/memory-files.ts"
import type { PlannedChange } from "./commit.ts"
import { readCopy } from "./history.ts"
import type { MemoryChange } from "./memory.ts"
import { mergedWith } from "./plan-change.ts"
import type { Snapshot } from "./snapshot.ts"

export async function planRevert(options: {
  files: MemoryFiles
  snapshot: Snapshot
  change: MemoryChange
}): Promise<Pick<PlannedChange, "edits" | "unarchived">> {
  const { files, snapshot, change } = options
  const textOf = async (copy: string | undefined) => (copy === undefined ? null : readCopy(files, copy))
  const wanted = new Map<string, string | null>()
  const base = new Map<string, string | null>()
  const unarchived = new Map<string, string>()
  for (const { path, before, after, archived } of change.files) {
    const [old, fresh] = [await textOf(before), await textOf(after)]
    wanted.set(path, old)
    base.set(path, fresh)
    if (archived !== undefined && old !== null && (await files.read(archived)) === old) unarchived.set(archived, old)
  }
  return { edits: await mergedWith({ edits: wanted, base, texts: snapshot.texts }), unarchived }
}
