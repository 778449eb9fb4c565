/**
 * Whose edits the unrecorded ones are. A file that someone changed with an editor is the person's. It is not where a command of the agent
 * or a file tool may have written, where git may have put the files, or where the history that would know is gone.
 */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import type { MemoryFiles } from "../journal/memory-files.ts"
import { type AnnouncedWrite, announcedWrites } from "./announced-writes.ts"
import type { Head } from "./history.ts"
import type { Provenance } from "./memory.ts"

export interface HandEdits {
  readonly announced: readonly AnnouncedWrite[]
  /** Why an edit of this file may not be the person's, as a thing that it came from. Nothing: it is theirs. */
  doubt(file: string): string | undefined
}

export async function handEditsIn(
  files: MemoryFiles,
  { head, hasIndex }: { readonly head: Head; readonly hasIndex: boolean },
): Promise<HandEdits> {
  const announced = await announcedWrites(files)
  // an index without a history: Strata was here before, and what it knew is lost
  const isForgotten = head.last === 0 && hasIndex
  const general = isInRepository(files.directory)
    ? "files that git manages"
    : isForgotten
      ? "files without a history"
      : announced.some((write) => write.files === undefined)
        ? "a command of the agent"
        : undefined
  return {
    announced,
    doubt: (file) =>
      general ?? (announced.some((write) => write.files?.includes(file)) ? "a file tool of the agent" : undefined),
  }
}

export const sourceOfEdit = (doubt: string | undefined): Provenance =>
  doubt === undefined ? { saidBy: "user" } : { saidBy: "agent", outside: doubt }

/** Whether a checkout or a merge can change the files. */
function isInRepository(directory: string | undefined): boolean {
  for (let at = directory; at !== undefined; at = dirname(at) === at ? undefined : dirname(at))
    if (existsSync(join(at, ".git"))) return true
  return false
}
