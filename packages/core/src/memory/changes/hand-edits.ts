/**
 * Whose edits the unrecorded ones are. A file that someone changed with an editor is the person's. It is not where a command of the agent
 * or a file tool may have written, where git may have put the files, or where the history that would know is gone.
 *
 * An agent announces its writes on disk, so that no process takes them for the person's edits: not while they run, and not after a crash.
 * A command may write any file, so its announcement covers all of them.
 */

import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Holder, judge, thisProcess } from "../../journal/file/lock-owner.ts"
import { type MemoryFileChange, type MemoryFiles, type ReadMemoryFile, WRITING } from "../../journal/memory-files.ts"
import type { MemoryProvenance } from "../memory.ts"
import type { Head } from "./history.ts"

export interface HandEdits {
  readonly announced: readonly AnnouncedWrite[]
  /** Why an edit of this file may not be the person's, as a thing that it came from. Nothing: it is theirs. */
  doubt(file: string): string | undefined
}

export interface MemoryNow {
  readonly head: Head
  readonly hasIndex: boolean
  /** The files of the folder where writes are announced. */
  readonly writing: readonly ReadMemoryFile[]
}

export async function handEditsIn(
  { directory }: MemoryFiles,
  { head, hasIndex, writing }: MemoryNow,
): Promise<HandEdits> {
  const announced = await announcedIn(writing)
  // an index without a history: Strata was here before, and what it knew is lost
  const isForgotten = head.last === 0 && hasIndex
  const general = isInRepository(directory)
    ? "files that git manages"
    : isForgotten
      ? "files without a history"
      : announced.some((write) => write.isDamaged)
        ? "a change that was damaged"
        : announced.some((write) => write.files === undefined)
          ? "a command of the agent"
          : undefined
  return {
    announced,
    doubt: (file) =>
      general ?? (announced.some((write) => write.files?.includes(file)) ? "a file tool of the agent" : undefined),
  }
}

export const sourceOfEdit = (doubt: string | undefined): MemoryProvenance =>
  doubt === undefined ? { saidBy: "user" } : { saidBy: "agent", outside: doubt }

/** Whether a checkout or a merge can change the files. */
function isInRepository(directory: string | undefined): boolean {
  for (let at = directory; at !== undefined; at = dirname(at) === at ? undefined : dirname(at))
    if (existsSync(join(at, ".git"))) return true
  return false
}

const US = randomUUID() // a process id can be another process in another container

interface AnnouncedWrite {
  /** Where the announcement is. */
  readonly path: string
  /** The files that a file tool writes. Absent: a command runs. */
  readonly files?: readonly string[]
  /** Its process is gone, so it is not taken back any more. */
  readonly isLeftOver: boolean
  readonly isOurs: boolean
  /** A change was half made, and can no longer be completed. */
  readonly isDamaged: boolean
}

interface Stored {
  readonly by: string
  readonly owner: Holder
  readonly files?: readonly string[]
  readonly isDamaged?: true
}

/** Resolves with a function that takes the announcement back. Record what was written before. */
export async function announceWrite(files: MemoryFiles, written?: readonly string[]): Promise<() => Promise<void>> {
  const path = `${WRITING}/${randomUUID()}.json`
  const stored: Stored = { by: US, owner: await thisProcess(""), ...(written ? { files: written } : {}) }
  await files.install([{ path, text: JSON.stringify(stored) }])
  return async () => {
    await files.install([{ path, text: undefined }])
  }
}

/**
 * Looks at the memory of a conversation that records nothing in it. The function it resolves with looks again: what changed stays announced,
 * so that no later conversation takes it for the person's edits.
 */
export async function watchWrites(files: MemoryFiles): Promise<() => Promise<void>> {
  const before = await versionsIn(files)
  return async () => {
    const after = await versionsIn(files)
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    )
    if (changed.length > 0) await announceWrite(files, changed)
  }
}

const versionsIn = async (files: MemoryFiles): Promise<ReadonlyMap<string, string>> =>
  new Map((await files.list()).map(({ path, version }) => [path, version]))

async function announcedIn(writing: readonly ReadMemoryFile[]): Promise<readonly AnnouncedWrite[]> {
  return Promise.all(
    writing.map(async ({ path, text }) => {
      const { by, owner, files: written, isDamaged = false } = stored(text)
      return {
        path,
        ...(written ? { files: written } : {}),
        isLeftOver: isDamaged || (owner !== undefined && (await judge(owner)) === "dead"),
        isOurs: by === US,
        isDamaged,
      }
    }),
  )
}

export const withoutLeftOvers = (writes: readonly AnnouncedWrite[]): readonly MemoryFileChange[] =>
  writes.filter(({ isLeftOver }) => isLeftOver).map(({ path }) => ({ path, text: undefined }))

/** Whether a command of an agent in another process runs now: what is said on its behalf may not be the person's. */
export async function isCommandRunning(files: MemoryFiles): Promise<boolean> {
  const writes = await announcedIn(await files.readAll({ folders: [WRITING] }))
  return writes.some((write) => write.files === undefined && !write.isLeftOver && !write.isOurs)
}

/** One that cannot be read covers everything. */
function stored(text: string | undefined): Partial<Stored> {
  try {
    const { by, owner, files, isDamaged } = JSON.parse(text ?? "") as Stored
    if (isDamaged === true) return { isDamaged }
    return { by, ...(Number.isSafeInteger(owner?.pid) ? { owner } : {}), ...(Array.isArray(files) ? { files } : {}) }
  } catch {
    return {}
  }
}
