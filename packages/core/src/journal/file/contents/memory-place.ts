/** A memory on disk as it is given out and taken in: every plain file, also hidden ones, and when it was last consolidated. */
import { lstat, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Clock } from "../../../base/clock.ts"
import {
  CONSOLIDATED,
  type ContentChange,
  ContentDiffersError,
  type ContentFile,
  SHARED_TEXTS,
  type StoredItem,
  type StoredNamespace,
} from "../../contents.ts"
import { checkedMemoryPath, isMemoryPath } from "../../memory-files.ts"
import { SPENT } from "../../sums-content.ts"
import { LOCK_FILE } from "../consolidate-lock.ts"
import { FILE_MODE, memoryPlaceDirectory } from "../layout.ts"
import { makeDirectory } from "../make-directory.ts"
import { lockOf, settleMemories } from "../memory-directory.ts"
import { draftOf, makeFolder } from "../memory-texts.ts"

/** What is made again, or belongs to processes that use the directory. */
const OURS = /^(?:\.lock|\.consolidate-lock|\.intent\.json|\.search\.sqlite)|^\.replaced\/|\.draft$/
/** What a killed process had written and not named. */
const DRAFT = /^\.[0-9a-f]{12}\.draft$/

export interface MemoryContentPlace {
  readonly root: string
  readonly place: StoredNamespace
  readonly clock: Clock
}

export async function memoryContent(given: MemoryContentPlace): Promise<StoredItem | undefined> {
  const { root, place, clock } = given
  const where = memoryPlaceDirectory(root, place)
  const { directory } = where
  if (!("shared" in place)) await settleMemories({ ...where, clock })
  const found: Found = { files: [], leftOut: [] }
  if ("shared" in place) {
    for (const name of SHARED_TEXTS) await note(directory, name, found)
  } else {
    await walk(directory, "", found)
    const last = await consolidatedAt(directory)
    if (last !== undefined) found.files.push({ name: CONSOLIDATED, bytes: last.length })
  }
  const { files, leftOut } = found
  if (files.length === 0 && leftOut.length === 0) {
    if (!("shared" in place) && (await draftsIn(directory)).length > 0) await eraseMemory(given, []) // nothing else would find them
    return undefined
  }
  const times = files.flatMap(({ modified }) => modified ?? []).sort()
  return {
    address: { kind: "memories", place },
    files: files.sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(times.length === 0 ? {} : { touched: times.at(-1)! }),
    ...(leftOut.length === 0 ? {} : { leftOut }),
  }
}

interface Found {
  readonly files: ContentFile[]
  readonly leftOut: string[]
}

async function walk(directory: string, folder: string, found: Found): Promise<void> {
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (OURS.test(name) || name === SPENT) continue
    if (entry.isDirectory()) await walk(directory, name, found)
    else if (entry.isFile() && isMemoryPath(name)) await note(directory, name, found)
    else if (!entry.isSocket()) found.leftOut.push(`${name} is a link, or its name is not allowed everywhere`)
  }
}

async function note(directory: string, name: string, { files }: Found): Promise<void> {
  const facts = await lstat(join(directory, name)).catch(() => undefined)
  if (facts?.isFile()) files.push({ name, bytes: facts.size, modified: facts.mtime.toISOString() })
}

/** The time is that of the file. It is empty unless someone consolidates. */
async function consolidatedAt(directory: string): Promise<Buffer | undefined> {
  const facts = await stat(join(directory, LOCK_FILE)).catch(() => undefined)
  return facts?.isFile() && facts.mtimeMs > 0 ? Buffer.from(new Date(facts.mtimeMs).toISOString()) : undefined
}

export async function memoryFile({ root, place }: MemoryContentPlace, name: string): Promise<Buffer | undefined> {
  const { directory } = memoryPlaceDirectory(root, place)
  if (name === CONSOLIDATED) return consolidatedAt(directory)
  checkedMemoryPath(name)
  const facts = await lstat(join(directory, name)).catch(() => undefined)
  return facts?.isFile() ? readFile(join(directory, name)) : undefined
}

export async function writeMemory(given: MemoryContentPlace, { files = [] }: ContentChange): Promise<void> {
  const { root, place, clock } = given
  const { directory } = memoryPlaceDirectory(root, place)
  await makeDirectory(directory)
  const lock = await lockOf(directory, clock)
  try {
    for (const { name, data, replaces } of files) {
      const there = await memoryFile(given, name)
      if (!replaces && there && !there.equals(data))
        throw new ContentDiffersError({ kind: "memories", place }, `"${name}"`)
    }
    const ordered = files.toSorted((a, b) => Number(a.name === CONSOLIDATED) - Number(b.name === CONSOLIDATED))
    for (const { name, data, modified } of ordered) {
      const isTime = name === CONSOLIDATED
      const target = isTime ? join(directory, LOCK_FILE) : await makeFolder(directory, checkedMemoryPath(name))
      const draft = draftOf(target)
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

/** Without names: the whole directory, except what is this machine's own. */
export async function eraseMemory(given: MemoryContentPlace, names?: readonly string[]): Promise<void> {
  const { root, place, clock } = given
  const { directory } = memoryPlaceDirectory(root, place)
  if (!(await stat(directory).catch(() => undefined))) return
  const going = names ?? (await memoryContent(given))?.files.map(({ name }) => name) ?? []
  const lock = await lockOf(directory, clock)
  try {
    for (const name of going)
      await rm(join(directory, name === CONSOLIDATED ? LOCK_FILE : checkedMemoryPath(name)), { force: true })
    // drafts, copies of replaced texts, and the index of the search hold the same words
    if (!("shared" in place)) for (const draft of await draftsIn(directory)) await rm(draft, { force: true })
    await rm(join(directory, ".replaced"), { recursive: true, force: true })
    for (const name of await readdir(directory))
      if (name.startsWith(".search.sqlite")) await rm(join(directory, name), { force: true })
  } finally {
    await lock.release()
  }
  if (names === undefined && !("shared" in place)) await removeEmpty(directory)
}

async function draftsIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter(({ name }) => DRAFT.test(name)).map(({ parentPath, name }) => join(parentPath, name))
}

async function removeEmpty(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(directory, entry.name))
  await rmdir(directory).catch(() => undefined) // something is in it that was left out
}
