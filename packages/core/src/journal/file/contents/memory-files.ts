/** Exports and imports a memory directory: every plain file, including hidden ones, and the time of the last consolidation. */
import { lstat, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Clock } from "../../../base/clock.ts"
import {
  CONSOLIDATED,
  ContentDiffersError,
  type ContentFile,
  type ContentWrite,
  SHARED_TEXTS,
  type StoredItem,
  type StoredNamespace,
} from "../../contents.ts"
import { SPENT } from "../../daily-totals.ts"
import { isMemoryPath, validateMemoryPath } from "../../memory-files.ts"
import { LOCK_FILE } from "../consolidate-lock.ts"
import { FILE_MODE, memoryNamespaceDirectory } from "../layout.ts"
import { makeDirectory } from "../make-directory.ts"
import { acquireMemoryLock, settleMemories } from "../memory-directory.ts"
import { draftPath, makeFolder } from "../memory-texts.ts"

/** Files that can be rebuilt or belong to running processes. They are not exported. */
const INTERNAL_FILES = /^(?:\.lock|\.consolidate-lock|\.intent\.json|\.search\.sqlite)|^\.replaced\/|\.draft$/
/** A draft that a killed process wrote and never renamed. */
const DRAFT = /^\.[0-9a-f]{12}\.draft$/

export interface MemoryContentOptions {
  readonly root: string
  readonly namespace: StoredNamespace
  readonly clock: Clock
}

export async function memoryContent(given: MemoryContentOptions): Promise<StoredItem | undefined> {
  const { root, namespace, clock } = given
  const where = memoryNamespaceDirectory(root, namespace)
  const { directory } = where
  if (!("shared" in namespace)) await settleMemories({ ...where, clock })
  const found: FoundFiles = { files: [], omitted: [] }
  if ("shared" in namespace) {
    for (const name of SHARED_TEXTS) await note(directory, name, found)
  } else {
    await walk(directory, "", found)
    const last = await consolidatedAt(directory)
    if (last !== undefined) found.files.push({ name: CONSOLIDATED, bytes: last.length })
  }
  const { files, omitted } = found
  if (files.length === 0 && omitted.length === 0) {
    if (!("shared" in namespace) && (await draftsIn(directory)).length > 0) await eraseMemory(given, []) // nothing else would find these drafts
    return undefined
  }
  const times = files.flatMap(({ modified }) => modified ?? []).sort()
  return {
    address: { kind: "memories", namespace },
    files: files.sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(times.length === 0 ? {} : { touched: times.at(-1)! }),
    ...(omitted.length === 0 ? {} : { omitted }),
  }
}

interface FoundFiles {
  readonly files: ContentFile[]
  readonly omitted: string[]
}

async function walk(directory: string, folder: string, found: FoundFiles): Promise<void> {
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (INTERNAL_FILES.test(name) || name === SPENT) continue
    if (entry.isDirectory()) await walk(directory, name, found)
    else if (entry.isFile() && isMemoryPath(name)) await note(directory, name, found)
    else if (!entry.isSocket()) found.omitted.push(`${name} is a link, or its name is not allowed everywhere`)
  }
}

async function note(directory: string, name: string, { files }: FoundFiles): Promise<void> {
  const facts = await lstat(join(directory, name)).catch(() => undefined)
  if (facts?.isFile()) files.push({ name, bytes: facts.size, modified: facts.mtime.toISOString() })
}

/** The time is the mtime of the lock file. The file is empty unless a consolidation is running. */
async function consolidatedAt(directory: string): Promise<Buffer | undefined> {
  const facts = await stat(join(directory, LOCK_FILE)).catch(() => undefined)
  return facts?.isFile() && facts.mtimeMs > 0 ? Buffer.from(new Date(facts.mtimeMs).toISOString()) : undefined
}

export async function memoryFile({ root, namespace }: MemoryContentOptions, name: string): Promise<Buffer | undefined> {
  const { directory } = memoryNamespaceDirectory(root, namespace)
  if (name === CONSOLIDATED) return consolidatedAt(directory)
  validateMemoryPath(name)
  const facts = await lstat(join(directory, name)).catch(() => undefined)
  return facts?.isFile() ? readFile(join(directory, name)) : undefined
}

export async function writeMemory(given: MemoryContentOptions, { files = [] }: ContentWrite): Promise<void> {
  const { root, namespace, clock } = given
  const { directory } = memoryNamespaceDirectory(root, namespace)
  await makeDirectory(directory)
  const lock = await acquireMemoryLock(directory, clock)
  try {
    for (const { name, data, replaces } of files) {
      const there = await memoryFile(given, name)
      if (!replaces && there && !there.equals(data))
        throw new ContentDiffersError({ kind: "memories", namespace }, `"${name}"`)
    }
    const ordered = files.toSorted((a, b) => Number(a.name === CONSOLIDATED) - Number(b.name === CONSOLIDATED))
    for (const { name, data, modified } of ordered) {
      const isTime = name === CONSOLIDATED
      const target = isTime ? join(directory, LOCK_FILE) : await makeFolder(directory, validateMemoryPath(name))
      const draft = draftPath(target)
      await rm(draft, { force: true })
      await writeFile(draft, isTime ? "" : data, { mode: FILE_MODE, flush: true, flag: "wx" })
      const time = isTime ? data.toString("utf8") : modified
      if (time !== undefined) await utimes(draft, new Date(time), new Date(time))
      await rename(draft, target)
    }
  } finally {
    await lock.release()
  }
}

/** Without names: erases the whole directory, except files that belong to this machine. */
export async function eraseMemory(given: MemoryContentOptions, names?: readonly string[]): Promise<void> {
  const { root, namespace, clock } = given
  const { directory } = memoryNamespaceDirectory(root, namespace)
  if (!(await stat(directory).catch(() => undefined))) return
  const going = names ?? (await memoryContent(given))?.files.map(({ name }) => name) ?? []
  const lock = await acquireMemoryLock(directory, clock)
  try {
    for (const name of going)
      await rm(join(directory, name === CONSOLIDATED ? LOCK_FILE : validateMemoryPath(name)), { force: true })
    // drafts, copies of replaced texts and the search index contain the same text
    if (!("shared" in namespace)) for (const draft of await draftsIn(directory)) await rm(draft, { force: true })
    await rm(join(directory, ".replaced"), { recursive: true, force: true })
    for (const name of await readdir(directory))
      if (name.startsWith(".search.sqlite")) await rm(join(directory, name), { force: true })
  } finally {
    await lock.release()
  }
  if (names === undefined && !("shared" in namespace)) await removeEmpty(directory)
}

async function draftsIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter(({ name }) => DRAFT.test(name)).map(({ parentPath, name }) => join(parentPath, name))
}

async function removeEmpty(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(directory, entry.name))
  await rmdir(directory).catch(() => undefined) // not empty: it still has files that were omitted
}
