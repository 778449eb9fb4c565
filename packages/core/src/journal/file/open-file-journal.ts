/** Opens a journal: takes the lock, reads the index, and repairs only what a crash left. Damaged lines are set aside, not lost. */
import { type FileHandle, mkdir, open, rm, writeFile } from "node:fs/promises"
import { ConversationLockedError } from "../../base/errors.ts"
import { isBoundaryEntry } from "../entries.ts"
import { decodeLine, isWhole, peekLine } from "../line.ts"
import type { FlushMode, JournalAddress, OpeningReport } from "../store.ts"
import { FileJournal } from "./file-journal.ts"
import { IndexFile, type LineKind, readBytes } from "./index-file.ts"
import { DIRECTORY_MODE, FILE_MODE, type JournalPaths, journalPaths } from "./layout.ts"
import { acquireLock, type FileLock } from "./lock.ts"
import { scanLines } from "./scan.ts"

export interface OpenFileJournal {
  readonly root: string
  readonly address: JournalAddress
  readonly access: "write" | "read"
  readonly flush: FlushMode
  /** The time written into the lock. */
  readonly now: string
}

export async function openFileJournal(options: OpenFileJournal): Promise<FileJournal> {
  const paths = journalPaths(options.root, options.address)
  const readOnly = options.access === "read"
  if (!readOnly) await mkdir(paths.directory, { recursive: true, mode: DIRECTORY_MODE })
  const { lock, tookOverLock } = readOnly ? { lock: undefined, tookOverLock: false } : await lockFor(paths, options)
  let handle: FileHandle | undefined
  try {
    handle = await open(paths.journal, readOnly ? "r" : "a+", FILE_MODE)
    const { size } = await handle.stat()
    const recovered = await recover({ handle, paths, size, readOnly })
    return new FileJournal({
      address: options.address,
      paths,
      handle,
      lock,
      flush: options.flush,
      size: recovered.size,
      index: recovered.index,
      opening: { ...recovered.report, created: size === 0 && !readOnly, tookOverLock },
    })
  } catch (error) {
    await handle?.close()
    await lock?.release()
    throw error
  }
}

async function lockFor(
  paths: JournalPaths,
  options: OpenFileJournal,
): Promise<{ lock: FileLock; tookOverLock: boolean }> {
  const attempt = await acquireLock(paths.lock, options.now)
  if (attempt.state === "held") throw new ConversationLockedError(options.address.id, attempt.by)
  return { lock: attempt.lock, tookOverLock: attempt.takenOverFrom !== undefined }
}

interface Recovery {
  readonly handle: FileHandle
  readonly paths: JournalPaths
  readonly size: number
  readonly readOnly: boolean
}

/** Brings the index up to date by checking every line that it does not know yet. */
async function recover({ handle, paths, size, readOnly }: Recovery) {
  let index = await IndexFile.open(paths.index, size, { readOnly })
  const found = index.count
  if (found > 0 && !(await indexFits(index, handle))) {
    await index.close()
    if (!readOnly) await rm(paths.index)
    index = await IndexFile.open(readOnly ? `${paths.index}.none` : paths.index, 0, { readOnly })
  }
  const used = index.count
  const aside = new SetAside(paths.setAside, readOnly)
  const damagedLines: { offset: number; bytes: number; why: string }[] = []
  let tornBytes = 0
  let end = index.end
  let batch: { uuid: string; offset: number; length: number; kind: LineKind }[] = []

  for await (const { offset, bytes, ended } of scanLines(handle, index.end, size)) {
    if (!isWhole(bytes)) {
      await aside.keep(offset, bytes)
      if (!ended) {
        tornBytes = bytes.length
        break
      }
      damagedLines.push({ offset, bytes: bytes.length, why: "the checksum does not match" })
      batch.push({ uuid: `damaged:${offset}`, offset, length: bytes.length, kind: "damaged" })
    } else {
      batch.push({ ...identify(bytes), offset, length: bytes.length })
      // a whole line without its line end counts as written; the next one must not be fused with it
      if (!ended && !readOnly) await handle.appendFile("\n")
    }
    end = offset + bytes.length + 1
    if (batch.length >= 10_000) {
      await index.add(batch)
      batch = []
    }
  }
  if (batch.length > 0) await index.add(batch)
  if (tornBytes > 0 && !readOnly) await handle.truncate(end)

  const report: Omit<OpeningReport, "created" | "tookOverLock"> = {
    tornBytes,
    damagedLines,
    index: index.count === used && used === found ? "used" : used === 0 && end > 0 ? "rebuilt" : "extended",
    ...(aside.used ? { setAside: paths.setAside } : {}),
  }
  return { index, size: end, report }
}

async function indexFits(index: IndexFile, handle: FileHandle): Promise<boolean> {
  const last = await index.record(index.count - 1)
  if (!last) return false
  if (last.kind === "damaged") return true
  const line = await readBytes(handle, last.offset, last.length)
  return isWhole(line) && index.fits(identify(line).uuid)
}

function identify(line: Buffer): { uuid: string; kind: LineKind } {
  const peeked = peekLine(line)
  if (peeked) return { uuid: peeked.uuid, kind: peeked.isBoundary ? "boundary" : "entry" }
  const decoded = decodeLine(line)
  if (decoded.state === "damaged") return { uuid: "", kind: "damaged" }
  return { uuid: decoded.entry.uuid, kind: isBoundaryEntry(decoded.entry) ? "boundary" : "entry" }
}

/** Copies unreadable bytes to a file of their own before anything else happens to them. */
class SetAside {
  readonly #path: string
  readonly #readOnly: boolean
  used = false

  constructor(path: string, readOnly: boolean) {
    this.#path = path
    this.#readOnly = readOnly
  }

  async keep(offset: number, bytes: Buffer): Promise<void> {
    if (this.#readOnly) return
    const record = { offset, length: bytes.length, base64: bytes.toString("base64") }
    await writeFile(this.#path, `${JSON.stringify(record)}\n`, { flag: "a", mode: FILE_MODE })
    this.used = true
  }
}
