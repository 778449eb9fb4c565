/** Exports and imports the files of a conversation: lines, blobs, notes and checkpoint. Indexes are rebuilt. */
import { appendFile, lstat, open, readdir, readFile, rm, stat, truncate, utimes } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { crc32 } from "node:zlib"
import { isSafeId } from "../../../base/clock.ts"
import { ConversationLockedError, InvalidIdError } from "../../../base/errors.ts"
import { readPlainFile } from "../../../base/files.ts"
import {
  BLOB,
  ContentDiffersError,
  type ContentFile,
  type ContentFileBytes,
  type ContentWrite,
  type StoredItem,
} from "../../contents.ts"
import { splitRawLine } from "../../line.ts"
import type { JournalAddress } from "../../store.ts"
import { removeUnpublishedDrafts } from "../fence-files.ts"
import { decodeCheckpoint, writeAtomically } from "../guarded-writes.ts"
import { listJournalIds } from "../journal-ids.ts"
import { FILE_MODE, type JournalPaths, journalDirectory, journalPaths } from "../layout.ts"
import { acquireLock, holderOf } from "../lock.ts"
import { makeDirectory } from "../make-directory.ts"

const LINE_END = 0x0a
const BATCH_BYTES = 4 * 1024 * 1024
const MAX_FILE_BYTES = 2 ** 31 - 1
const QUARANTINE = "set-aside"
const SEARCH_INDEX = /^(?:search|blocks|recall)\.sqlite/

export async function journalContent(root: string, address: JournalAddress): Promise<StoredItem | undefined> {
  const paths = journalPaths(root, address)
  const facts = await stat(paths.journal).catch(() => undefined)
  if (!facts?.isFile()) return undefined
  const [ending, isOpen, files] = await Promise.all([findEnding(paths, facts.size), isOpenNow(paths), listFiles(paths)])
  const isTorn = ending.torn.length > 0 && !isOpen
  const aside = files.find(({ name }) => name === QUARANTINE)
  const listed = files.filter((file) => file !== aside)
  if (aside || isTorn) listed.push({ name: QUARANTINE, bytes: (await quarantinedBytes(paths, ending)).length })
  return {
    address: { kind: "journal", ...address },
    lines: ending.lines,
    files: listed.sort((a, b) => (a.name < b.name ? -1 : 1)),
    touched: facts.mtime.toISOString(),
    ...(isOpen ? { isOpen } : {}),
  }
}

/** How the lines of a file end. Opening it for writing has the same result: an incomplete end is cut off and quarantined. */
interface FileEnding {
  /** Size of the complete lines. */
  readonly lines: number
  /** Complete lines after the last line end, with the line end they lack. */
  readonly ended: Buffer
  /** The incomplete rest. */
  readonly torn: Buffer
}

async function findEnding({ journal }: JournalPaths, size: number): Promise<FileEnding> {
  const end = await lastLineEnd(journal, size)
  if (end === size) return { lines: size, ended: Buffer.alloc(0), torn: Buffer.alloc(0) }
  const tail = await readRange(journal, end, size)
  const last = splitRawLine(tail).at(-1)!
  const whole = tail.subarray(0, last.isComplete ? tail.length : last.start)
  const ended = whole.length === 0 ? whole : Buffer.concat([whole, Buffer.of(LINE_END)])
  return { lines: end + ended.length, ended, torn: tail.subarray(whole.length) }
}

async function lastLineEnd(path: string, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BATCH_BYTES)
    const found = (await readRange(path, start, end)).lastIndexOf(LINE_END)
    if (found >= 0) return start + found + 1
    end = start
  }
  return 0
}

async function readRange(path: string, from: number, to: number): Promise<Buffer> {
  const handle = await open(path, "r")
  try {
    const bytes = Buffer.alloc(to - from)
    let read = 0
    while (read < bytes.length) {
      const { bytesRead } = await handle.read(bytes, read, bytes.length - read, from + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    return bytes.subarray(0, read)
  } finally {
    await handle.close()
  }
}

/** Complete lines from an offset. */
export async function journalLines(path: string, from: number): Promise<Buffer> {
  const facts = await stat(path).catch(() => undefined)
  if (!facts?.isFile() || from >= facts.size + 1) return Buffer.alloc(0)
  for (let wanted = BATCH_BYTES; ; wanted *= 2) {
    const to = Math.min(facts.size, from + wanted)
    const bytes = await readRange(path, from, to)
    const end = bytes.lastIndexOf(LINE_END) + 1
    if (end > 0) return bytes.subarray(0, end)
    if (to < facts.size) continue // the line is longer than this range
    const last = bytes.length === 0 ? undefined : splitRawLine(bytes).at(-1)!
    const whole = last === undefined ? bytes : bytes.subarray(0, last.isComplete ? bytes.length : last.start)
    return whole.length === 0 ? whole : Buffer.concat([whole, Buffer.of(LINE_END)])
  }
}

const isOpenNow = async ({ lock }: JournalPaths): Promise<boolean> => {
  const holder = await holderOf(lock)
  return holder !== undefined && holder.status !== "dead"
}

async function listFiles({ notes, checkpoint, quarantine, blobs }: JournalPaths): Promise<ContentFile[]> {
  const files: ContentFile[] = []
  for (const [name, path] of [
    ["notes", notes],
    [QUARANTINE, quarantine],
  ] as const) {
    const facts = await lstat(path).catch(() => undefined)
    if (facts?.isFile()) files.push({ name, bytes: facts.size })
  }
  const json = await checkpointJson(checkpoint)
  if (json) files.push({ name: "checkpoint", bytes: json.length })
  for (const name of (await readdir(blobs).catch(() => [] as string[])).filter(isBlobName)) {
    const facts = await lstat(join(blobs, name)).catch(() => undefined)
    if (facts?.isFile()) files.push({ name: `${BLOB}${name}`, bytes: facts.size })
  }
  return files
}

/** Whether the port allows this blob name. Drafts have two dots. */
function isBlobName(name: string): boolean {
  const [, stem, extension = ""] = /^([^.]+)(?:\.([^.]+))?$/.exec(name) ?? []
  return stem !== undefined && isSafeId(stem + extension)
}

/** The checkpoint without its checksum, which belongs to the file. `undefined` if it is damaged: the journal can rebuild it. */
async function checkpointJson(path: string): Promise<Buffer | undefined> {
  const bytes = await readFile(path).catch(() => undefined)
  if (bytes === undefined || decodeCheckpoint(bytes).state !== "used") return undefined
  return bytes.subarray(0, bytes.lastIndexOf(LINE_END, bytes.length - 2))
}

const withChecksum = (json: Buffer): string =>
  `${json.toString("utf8")}\n${crc32(json).toString(16).padStart(8, "0")}\n`

export async function journalFile(root: string, address: JournalAddress, name: string): Promise<Buffer | undefined> {
  const paths = journalPaths(root, address)
  if (name === "checkpoint") return checkpointJson(paths.checkpoint)
  if (name === QUARANTINE) {
    const size = (await stat(paths.journal).catch(() => undefined))?.size ?? 0
    const bytes = await quarantinedBytes(paths, await findEnding(paths, size))
    return bytes.length === 0 ? undefined : bytes
  }
  return readPlainFile(filePath(paths, name), MAX_FILE_BYTES).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
}

/** The quarantined bytes, plus the unfinished line that opening would add to them. */
async function quarantinedBytes({ quarantine, journal }: JournalPaths, { torn }: FileEnding): Promise<Buffer> {
  const known = await readFile(quarantine).catch(() => Buffer.alloc(0))
  if (torn.length === 0) return known
  const size = (await stat(journal)).size
  const front = `{"offset":${size - torn.length},"length":${torn.length},"crc":${crc32(torn)},`
  if (known.includes(front)) return known
  return Buffer.concat([known, Buffer.from(`${front}"base64":"${torn.toString("base64")}"}\n`)])
}

function filePath(paths: JournalPaths, name: string): string {
  if (name === "notes") return paths.notes
  if (name === "checkpoint") return paths.checkpoint
  if (name === QUARANTINE) return paths.quarantine
  const blob = name.startsWith(BLOB) ? name.slice(BLOB.length) : ""
  if (!isBlobName(blob)) throw new InvalidIdError("file name", name)
  return join(paths.blobs, blob)
}

export interface JournalWrite extends ContentWrite {
  readonly root: string
  readonly address: JournalAddress
  readonly now: string
}

/**
 * Lines are written last: after a kill, the next attempt finds the files already correct. The journal file itself is created first,
 * because files without a journal are not listed and could not be erased.
 */
export async function writeJournal({ root, address, now, lines, files = [], touched }: JournalWrite): Promise<void> {
  const paths = journalPaths(root, address)
  await locked({ root, address, now }, async ({ number, check }) => {
    const facts = await stat(paths.journal).catch(() => undefined)
    const ending = facts && (await findEnding(paths, facts.size))
    const before = ending?.lines ?? 0
    const differs = (what: string) => new ContentDiffersError({ kind: "journal", ...address }, what)
    if (lines && lines.at !== before) throw differs(`the size (${before} bytes, not ${lines.at})`)
    for (const file of files)
      if (!file.replaces && (await differsFrom(root, address, file))) throw differs(`"${file.name}"`)
    check()
    await appendFile(paths.journal, "", { mode: FILE_MODE })
    for (const { name, data } of files) {
      const path = filePath(paths, name)
      await makeDirectory(dirname(path))
      await writeAtomically({
        path,
        data: name === "checkpoint" ? withChecksum(data) : data,
        number,
        flush: true,
        check,
      })
    }
    const size = facts?.size ?? 0
    if (ending && ending.torn.length > 0) {
      await writeAtomically({
        path: paths.quarantine,
        data: await quarantinedBytes(paths, ending),
        number,
        flush: true,
        check,
      })
      await truncate(paths.journal, size - ending.torn.length)
    }
    const lacksEnd = ending !== undefined && ending.ended.length > 0
    try {
      check()
      const data = Buffer.concat([Buffer.from(lacksEnd ? "\n" : ""), lines?.data ?? Buffer.alloc(0)])
      await appendFile(paths.journal, data, { mode: FILE_MODE, flush: true })
    } catch (error) {
      await truncate(paths.journal, before).catch(() => undefined)
      throw error
    }
    if (touched !== undefined) await utimes(paths.journal, new Date(touched), new Date(touched))
  })
}

async function differsFrom(root: string, address: JournalAddress, { name, data }: ContentFileBytes): Promise<boolean> {
  const there = await journalFile(root, address, name)
  return there !== undefined && !there.equals(data)
}

interface LockedWrite {
  readonly number: number
  readonly check: () => void
}

async function locked<T>(
  { root, address, now }: Pick<JournalWrite, "root" | "address" | "now">,
  work: (right: LockedWrite) => Promise<T>,
): Promise<T> {
  const paths = journalPaths(root, address)
  await makeDirectory(paths.directory)
  const attempt = await acquireLock(paths.lock, now)
  if (attempt.state === "held") throw new ConversationLockedError(address.id, attempt.by)
  const { lock } = attempt
  const check = () => {
    if (!lock.isHeld()) throw new ConversationLockedError(address.id, { pid: 0, host: "another machine", since: now })
  }
  try {
    if (attempt.takenOverFrom) await removeUnpublishedDrafts(paths)
    return await work({ number: lock.fence, check })
  } finally {
    await lock.release()
  }
}

/**
 * Erases a conversation with its sub-agents, including those left without their conversation by a kill. Erases nothing if one of them is
 * open.
 */
export async function eraseJournal(
  given: Pick<JournalWrite, "root" | "address" | "now"> & { readonly names?: readonly string[] },
): Promise<void> {
  const { root, address, now, names } = given
  const paths = journalPaths(root, address)
  const below = { project: address.project, under: address.id }
  const agents = address.under === undefined ? await listJournalIds(journalDirectory(root, below)) : []
  const isThere = (await stat(paths.journal).catch(() => undefined)) !== undefined
  if (!isThere && (names || agents.length === 0)) return
  if (names) return locked(given, () => removeAll(names.map((name) => filePath(paths, name))))
  const all: readonly JournalAddress[] = [address, ...agents.map((id) => ({ ...below, id }))]
  // all are locked before the first is removed, and the conversation is removed last, so that a retry after a kill still finds its
  // sub-agents
  const eraseFrom = (at: number): Promise<void> => {
    const one = all[at]!
    return locked({ root, address: one, now }, async () => {
      if (at + 1 < all.length) await eraseFrom(at + 1)
      await removeFiles(journalPaths(root, one))
    })
  }
  await eraseFrom(0)
  if (address.under === undefined)
    await rm(join(paths.directory, address.id), { recursive: true, force: true }).catch(() => undefined)
}

async function removeFiles(paths: JournalPaths): Promise<void> {
  const { directory, journal, index, checkpoint, inFlight, quarantine, blobs, notes } = paths
  await rm(blobs, { recursive: true, force: true })
  await removeUnpublishedDrafts(paths)
  // the search index of this conversation or of the whole namespace contains the same text; it is rebuilt
  const start = `${basename(journal, ".jsonl")}.`
  const own = (await readdir(directory)).filter(
    (name) => SEARCH_INDEX.test(name) || (name.startsWith(start) && name.includes(".sqlite")),
  )
  await removeAll([
    ...own.map((name) => join(directory, name)),
    notes,
    checkpoint,
    inFlight,
    quarantine,
    index,
    journal,
  ])
}

async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true })
}
