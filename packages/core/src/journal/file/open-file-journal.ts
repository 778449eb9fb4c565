/** Opens a journal: takes the lock, reads the index, and repairs only what a crash left. Damaged lines are quarantined, not lost. */
import { stat } from "node:fs/promises"
import { ConversationLockedError, JournalOpenError, StrataError } from "../../base/errors.ts"
import { damagedId, uuidKey } from "../../base/text.ts"
import {
  decodeLine,
  isCompleteLine,
  type LineChunk,
  type LineFront,
  peekLine,
  SUM_DIFFERS,
  splitRawLine,
  statedSum,
} from "../line.ts"
import type { FlushMode, JournalAddress } from "../store.ts"
import { fenceFiles } from "./fence-files.ts"
import { FileJournal } from "./file-journal.ts"
import { createFence, type Fence, PooledFile, type WriteStep } from "./guarded-writes.ts"
import { IndexFile, type LineToIndex, readBytes } from "./index-file.ts"
import { type JournalPaths, journalPaths } from "./layout.ts"
import { acquireLock, mayRun } from "./lock.ts"
import { makeDirectory } from "./make-directory.ts"
import { DamageLog } from "./read-lines.ts"
import { scanLines } from "./scan.ts"

export interface OpenFileJournal {
  readonly root: string
  readonly address: JournalAddress
  readonly access: "write" | "read"
  readonly flush: FlushMode
  /** The time written into the lock. */
  readonly now: string
  /** Called after each check of the lock, before the guarded write, for tests that pause the process there. */
  readonly atStep?: (step: WriteStep) => void
}

export async function openFileJournal(options: OpenFileJournal): Promise<FileJournal> {
  const { access } = options
  const paths = journalPaths(options.root, options.address)
  try {
    return await openWithLock(options, paths)
  } catch (cause) {
    if (cause instanceof StrataError) throw cause
    const { path = paths.journal } = cause as NodeJS.ErrnoException
    throw new JournalOpenError({ path, access, cause })
  }
}

async function openWithLock(options: OpenFileJournal, paths: JournalPaths): Promise<FileJournal> {
  const { address, flush, access, atStep } = options
  const isNew = access === "write" ? await makeDirectory(paths.directory) : []
  const attempt = access === "write" ? await lockFor(paths, options) : undefined
  const lock = attempt?.lock
  const fence = lock && createFence(lock, atStep)
  const former = attempt?.takenOverFrom
  let handle: PooledFile | undefined
  let mustRenew = former !== undefined && mayRun(former)
  try {
    if (mustRenew && fence) await fenceFiles(paths, { fence, number: lock.fence })
    mustRenew = false
    handle = await openFile(paths.journal, fence)
    const size = await handle.size()
    const recovered = await recover({ handle, paths, size, fence })
    const created = size === 0 && fence !== undefined
    return new FileJournal({
      ...{ address, paths, handle, flush },
      ...(lock && fence ? { held: { lock, fence } } : {}),
      size: recovered.size,
      index: recovered.index,
      damage: recovered.damage,
      newNames: created ? [...isNew, paths.directory] : isNew,
      opening: { ...recovered.report, created, tookOverLock: former !== undefined },
    })
  } catch (error) {
    await handle?.close()
    await (mustRenew ? lock?.abandon() : lock?.release())
    throw error
  }
}

/** Refuses anything but a file, because opening a pipe or a device would wait forever. */
async function openFile(path: string, fence: Fence | undefined): Promise<PooledFile> {
  const found = await stat(path).catch(() => undefined)
  if (found && !found.isFile()) throw Object.assign(new Error(`${path} is not a file`), { path })
  return fence ? PooledFile.open(path, "a+", fence) : PooledFile.open(path, "r")
}

async function lockFor(paths: JournalPaths, { address, now }: OpenFileJournal) {
  const attempt = await acquireLock(paths.lock, now)
  if (attempt.state === "held") throw new ConversationLockedError(address.id, attempt.by)
  return attempt
}

interface RecoveryInput {
  readonly handle: PooledFile
  readonly paths: JournalPaths
  readonly size: number
  /** Absent for reading. */
  readonly fence: Fence | undefined
}

/** Updates the index by checking every line that it does not contain. */
async function recover({ handle, paths, size, fence }: RecoveryInput) {
  const damage = new DamageLog(paths.quarantine, fence)
  let index = await IndexFile.open(paths.index, size, fence)
  const found = index.count
  if (found > 0 && !(await indexFits(index, handle))) {
    await index.close()
    index = await IndexFile.open(fence ? paths.index : `${paths.index}.none`, 0, fence)
  }
  const used = index.count
  const added = await indexNewLines({ handle, index, size, damage })
  await damage.report()
  const end = fence === undefined ? added.end : await endLastLine(handle, added)
  const how = index.count === used && used === found ? "used" : used === 0 && end > 0 ? "rebuilt" : "extended"
  return { index, size: end, damage, report: { tornBytes: added.tornBytes, index: how } as const }
}

interface IndexingInput {
  readonly handle: PooledFile
  readonly index: IndexFile
  readonly size: number
  readonly damage: DamageLog
}

interface IndexingResult {
  /** The offset up to which lines were indexed. */
  readonly end: number
  readonly tornBytes: number
}

const BATCH_LINES = 10_000

async function indexNewLines({ handle, index, size, damage }: IndexingInput): Promise<IndexingResult> {
  let end = index.end
  let tornBytes = 0
  let batch: LineToIndex[] = []
  const written = new WrittenLines(handle, index)
  for await (const { offset, bytes, ended, next } of scanLines(handle, index.end, size)) {
    const pieces = splitRawLine(bytes)
    const last = pieces.at(-1)
    if (!ended && last && !last.isComplete) {
      tornBytes = last.bytes.length
      damage.queueCopy(offset + last.start, last.bytes)
    }
    for (const [at, piece] of (tornBytes > 0 ? pieces.slice(0, -1) : pieces).entries()) {
      const number = index.count + batch.length
      const start = offset + piece.start
      const followedAt = pieces[at + 1]?.start ?? next - offset
      const length = piece.isComplete ? piece.bytes.length : followedAt - piece.start - 1
      if (!piece.isComplete && piece.bytes.length > 0)
        damage.add(
          { line: number + 1, offset: start, bytes: piece.bytes.length, why: SUM_DIFFERS, isLost: true },
          piece.bytes,
        )
      batch.push({ ...(await identify(piece, start, written)), offset: start, length })
    }
    end = tornBytes > 0 ? offset + last!.start : next
    if (damage.isFull) await damage.write()
    if (batch.length < BATCH_LINES) continue
    await index.add(batch)
    batch = []
  }
  if (batch.length > 0) await index.add(batch)
  return { end, tornBytes }
}

const LINE_END = 0x0a

/** Makes sure that the next line starts after a line end. An unfinished line was already copied and is cut off. Returns the size. */
async function endLastLine(handle: PooledFile, { end, tornBytes }: IndexingResult): Promise<number> {
  if (tornBytes > 0) await handle.truncate(end)
  const size = await handle.size()
  const [last] = size === 0 ? [LINE_END] : await readBytes(handle, size - 1, 1)
  if (last === LINE_END) return size
  await handle.append(Buffer.from("\n"))
  return size + 1
}

const RECORDS_TO_TRY = 16
const RECORDS_AT_ONCE = 5_000

/** Whether one of the newest lines is where the index says. More than one is tried, because the last line may be damaged. */
async function indexFits(index: IndexFile, handle: PooledFile): Promise<boolean> {
  let tries = 0
  for (let end = index.count; end > 0; end -= RECORDS_AT_ONCE) {
    const start = Math.max(0, end - RECORDS_AT_ONCE)
    for (const record of (await index.records(start, end - start)).toReversed()) {
      if (!record || record.kind === "damaged") continue
      if (tries++ === RECORDS_TO_TRY) return false
      const line = await readBytes(handle, record.offset, record.length)
      const front = isCompleteLine(line) ? frontOf(line) : undefined
      if (front) return uuidKey(front.uuid).toString("hex") === record.key
    }
  }
  return tries === 0
}

/** What the index records about a line. A repeated boundary does not count as a boundary. */
async function identify(
  { bytes, isComplete: whole }: LineChunk,
  offset: number,
  written: WrittenLines,
): Promise<Pick<LineToIndex, "uuid" | "kind">> {
  const front = whole ? frontOf(bytes) : peekLine(bytes)
  const isBoundary = front?.type === "system" && front.subtype === "compact_boundary"
  if (!front) return { uuid: damagedId(offset), kind: "damaged" }
  const { uuid } = front
  if (!whole) return { uuid, kind: isBoundary ? "boundary" : "damaged" }
  if (await written.has(uuid, statedSum(bytes))) return { uuid, kind: "repeated" }
  return { uuid, kind: isBoundary ? "boundary" : "entry" }
}

/** The lines before the one being indexed. A journal that was appended to itself contains every line twice. */
class WrittenLines {
  readonly #handle: PooledFile
  readonly #index: IndexFile
  readonly #end: number
  readonly #sums = new Map<string, string>()
  #keys: Set<string> | undefined

  constructor(handle: PooledFile, index: IndexFile) {
    this.#handle = handle
    this.#index = index
    this.#end = index.end
  }

  /** Whether the same line occurred before. Records it as well. */
  async has(uuid: string, sum: string): Promise<boolean> {
    const key = uuidKey(uuid).toString("hex")
    this.#keys ??= await this.#index.keys()
    if (this.#keys.delete(key)) await this.#readIndexed()
    if (this.#sums.get(key) === sum) return true
    this.#sums.set(key, sum)
    return false
  }

  /** Reads the checksums of all earlier indexed lines at once. */
  async #readIndexed(): Promise<void> {
    this.#keys = new Set()
    for await (const { bytes } of scanLines(this.#handle, 0, this.#end)) {
      const front = peekLine(bytes)
      if (front) this.#sums.set(uuidKey(front.uuid).toString("hex"), statedSum(bytes))
    }
  }
}

/** The front of a complete line, which another program may have written with its fields in another order. */
function frontOf(line: Buffer): LineFront | undefined {
  const front = peekLine(line)
  if (front) return front
  const decoded = decodeLine(line)
  return decoded.state === "whole" ? decoded.entry : undefined
}
