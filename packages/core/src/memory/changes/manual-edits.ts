/**
 * Attributes unrecorded edits. A file that was changed with an editor is the user's. It is not if a command or a file tool of the agent
 * may have written it, if git may have written it, or if the history that would know is lost.
 *
 * An agent announces its writes on disk, so that no process takes them for the user's edits, neither while they run nor after a crash.
 * A command may write any file, so its announcement covers all files.
 */

import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { checkOwner, type OwnerIdentity, thisProcess } from "../../journal/file/lock-owner.ts"
import {
  type MemoryFileChange,
  type MemoryFiles,
  type ReadMemoryFile,
  WRITE_ANNOUNCEMENTS,
} from "../../journal/memory-files.ts"
import type { MemorySource } from "../memory.ts"
import type { HistoryHead } from "./history.ts"

export interface ManualEdits {
  readonly announced: readonly AnnouncedWrite[]
  /** The likely origin of an edit of this file, if it may not be the user's. Undefined: it is the user's. */
  otherOrigin(file: string): string | undefined
}

export interface MemoryState {
  readonly head: HistoryHead
  readonly hasIndex: boolean
  /** The files in the directory of write announcements. */
  readonly writing: readonly ReadMemoryFile[]
}

export async function detectManualEdits(
  { directory }: MemoryFiles,
  { head, hasIndex, writing }: MemoryState,
): Promise<ManualEdits> {
  const announced = await readAnnouncements(writing)
  // an index without a history: Strata was used here before, and its records are lost
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
    otherOrigin: (file) =>
      general ?? (announced.some((write) => write.files?.includes(file)) ? "a file tool of the agent" : undefined),
  }
}

export const manualEditSource = (doubt: string | undefined): MemorySource =>
  doubt === undefined ? { saidBy: "user" } : { saidBy: "agent", outside: doubt }

/** Whether a checkout or a merge can change the files. */
function isInRepository(directory: string | undefined): boolean {
  for (let at = directory; at !== undefined; at = dirname(at) === at ? undefined : dirname(at))
    if (existsSync(join(at, ".git"))) return true
  return false
}

const PROCESS_KEY = randomUUID() // a process id is not unique across containers

interface AnnouncedWrite {
  /** Path of the announcement. */
  readonly path: string
  /** The files that a file tool writes. Absent: a command runs, which may write any file. */
  readonly files?: readonly string[]
  /** The announcing process has ended, so it will not withdraw the announcement. */
  readonly isStale: boolean
  readonly isOwn: boolean
  /** A change was interrupted and can no longer be completed. */
  readonly isDamaged: boolean
}

interface StoredAnnouncement {
  readonly by: string
  readonly owner: OwnerIdentity
  readonly files?: readonly string[]
  readonly isDamaged?: true
}

/** Resolves with a function that withdraws the announcement. Record the written files before calling it. */
export async function announceWrite(files: MemoryFiles, written?: readonly string[]): Promise<() => Promise<void>> {
  const path = `${WRITE_ANNOUNCEMENTS}/${randomUUID()}.json`
  const stored: StoredAnnouncement = {
    by: PROCESS_KEY,
    owner: await thisProcess(""),
    ...(written ? { files: written } : {}),
  }
  await files.install([{ path, text: JSON.stringify(stored) }])
  return async () => {
    await files.install([{ path, text: undefined }])
  }
}

/**
 * Watches the memory files for a conversation that does not record edits. The returned function checks again and leaves changed files
 * announced, so that no later conversation takes them for the user's edits.
 */
export async function watchWrites(files: MemoryFiles): Promise<() => Promise<void>> {
  const before = await fileVersions(files)
  return async () => {
    const after = await fileVersions(files)
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    )
    if (changed.length > 0) await announceWrite(files, changed)
  }
}

const fileVersions = async (files: MemoryFiles): Promise<ReadonlyMap<string, string>> =>
  new Map((await files.list()).map(({ path, version }) => [path, version]))

async function readAnnouncements(writing: readonly ReadMemoryFile[]): Promise<readonly AnnouncedWrite[]> {
  return Promise.all(
    writing.map(async ({ path, text }) => {
      const { by, owner, files: written, isDamaged = false } = parseAnnouncement(text)
      return {
        path,
        ...(written ? { files: written } : {}),
        isStale: isDamaged || (owner !== undefined && (await checkOwner(owner)) === "dead"),
        isOwn: by === PROCESS_KEY,
        isDamaged,
      }
    }),
  )
}

export const removalsOfStale = (writes: readonly AnnouncedWrite[]): readonly MemoryFileChange[] =>
  writes.filter(({ isStale }) => isStale).map(({ path }) => ({ path, text: undefined }))

/** Whether an agent in another process is running a command. Its edits may not be the user's. */
export async function isCommandRunning(files: MemoryFiles): Promise<boolean> {
  const writes = await readAnnouncements(await files.readAll({ folders: [WRITE_ANNOUNCEMENTS] }))
  return writes.some((write) => write.files === undefined && !write.isStale && !write.isOwn)
}

/** An announcement that cannot be parsed covers all files. */
function parseAnnouncement(text: string | undefined): Partial<StoredAnnouncement> {
  try {
    const { by, owner, files, isDamaged } = JSON.parse(text ?? "") as StoredAnnouncement
    if (isDamaged === true) return { isDamaged }
    return { by, ...(Number.isSafeInteger(owner?.pid) ? { owner } : {}), ...(Array.isArray(files) ? { files } : {}) }
  } catch {
    return {}
  }
}
