/**
 * Splits a file into chunks and joins them again, without holding it in memory. In a session's own file, its id is stored as one zero byte:
 * a fork repeats its parent's lines with another id, and so shares the parent's chunks.
 */
import { createHash, type Hash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { StrataError } from "@strata/core/base"
import { CHUNK_BYTES, type ChunkStore, type StoredChunk } from "./chunks.ts"
import type { ArchivedFile } from "./manifest.ts"

const READ_BYTES = 1024 * 1024
/** Error codes for a file that was removed, or replaced by a link or a socket. */
const GONE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EMLINK", "ENXIO"])
const ZERO = Buffer.from([0])

export interface SourceFile {
  readonly path: string
  readonly name: string
  /** Id of the session, if the file repeats it in its lines. */
  readonly id?: string
}

export interface PackedFile {
  readonly file: ArchivedFile
  /** Whether the file begins with its archived version. */
  readonly continues: boolean
}

/** Returns `undefined` if it is no longer a regular file. `before` is its archived version. */
export async function packFile(
  source: SourceFile,
  { pieces, before }: { readonly pieces: ChunkStore; readonly before?: ArchivedFile | undefined },
): Promise<PackedFile | undefined> {
  const handle = await open(source.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    (error: unknown) => {
      if (GONE.has(String(Object(error).code))) return undefined
      throw error // an existing file that was not archived must be reported
    },
  )
  if (!handle) return undefined
  try {
    const facts = await handle.stat()
    if (!facts.isFile()) return undefined
    const packing = { handle, size: facts.size, pieces, before }
    const packed = (await pack({ ...packing, id: source.id })) ?? (await pack({ ...packing, id: undefined }))!
    const { continues, ...rest } = packed
    return { file: { name: source.name, modifiedMs: facts.mtimeMs, ...rest }, continues }
  } finally {
    await handle.close()
  }
}

interface PackOptions {
  readonly handle: FileHandle
  /** Bytes to read. Content that the program appends meanwhile is left for the next time. */
  readonly size: number
  readonly pieces: ChunkStore
  readonly before: ArchivedFile | undefined
  readonly id: string | undefined
}

type PackResult = Omit<ArchivedFile, "name" | "modifiedMs"> & { readonly continues: boolean }

/** Undefined if the file contains a zero byte, which then cannot stand for the id. */
async function pack({ handle, size, pieces, before, id }: PackOptions): Promise<PackResult | undefined> {
  const stored: StoredChunk[] = []
  const prefix = new PrefixHash(before?.size ?? 0)
  let waiting: Buffer = Buffer.alloc(0)
  let incomplete: Buffer = Buffer.alloc(0) // may end within an id
  for (let at = 0; at < size; ) {
    const block = Buffer.alloc(Math.min(READ_BYTES, size - at))
    const { bytesRead } = await handle.read(block, 0, block.length, at)
    if (bytesRead === 0) break // the file became shorter
    at += bytesRead
    const bytes = block.subarray(0, bytesRead)
    if (id !== undefined && bytes.includes(0)) return undefined
    prefix.add(bytes)
    const { done, rest } = withoutId(Buffer.concat([incomplete, bytes]), { id, isLast: at >= size })
    incomplete = rest
    waiting = Buffer.concat([waiting, done])
    for (; waiting.length >= CHUNK_BYTES; waiting = waiting.subarray(CHUNK_BYTES))
      stored.push(await pieces.add(waiting.subarray(0, CHUNK_BYTES)))
  }
  const last = Buffer.concat([waiting, incomplete])
  if (last.length > 0) stored.push(await pieces.add(last))
  const continues = before === undefined || prefix.atPrefix === before.sha256
  return { size: prefix.size, sha256: prefix.full(), pieces: stored, continues, ...(id === undefined ? {} : { id }) }
}

function withoutId(bytes: Buffer, { id, isLast }: { readonly id: string | undefined; readonly isLast: boolean }) {
  if (id === undefined) return { done: bytes, rest: Buffer.alloc(0) }
  const parts: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, from)) {
    parts.push(bytes.subarray(from, at), ZERO)
    from = at + Buffer.byteLength(id)
  }
  const end = isLast ? bytes.length : Math.max(from, bytes.length - Buffer.byteLength(id) + 1)
  return { done: Buffer.concat([...parts, bytes.subarray(from, end)]), rest: bytes.subarray(end) }
}

/** Computes the hash of a file and of its first bytes in one pass. */
class PrefixHash {
  readonly #hash: Hash = createHash("sha256")
  readonly #prefix: number
  size = 0
  atPrefix: string | undefined

  constructor(prefix: number) {
    this.#prefix = prefix
    if (prefix === 0) this.atPrefix = this.#hash.copy().digest("hex")
  }

  add(bytes: Buffer): void {
    const remaining = this.#prefix - this.size
    if (remaining > 0 && remaining <= bytes.length) {
      this.#hash.update(bytes.subarray(0, remaining))
      this.atPrefix = this.#hash.copy().digest("hex")
      this.#hash.update(bytes.subarray(remaining))
    } else this.#hash.update(bytes)
    this.size += bytes.length
  }

  full(): string {
    return this.#hash.digest("hex")
  }
}

/** Yields the bytes of an archived file chunk by chunk. Throws at the end if the checksum does not match. */
export async function* readArchivedFile(file: ArchivedFile, pieces: ChunkStore): AsyncGenerator<Buffer> {
  const whole = createHash("sha256")
  for (const { hash } of file.pieces) {
    const bytes = withId(await pieces.read(hash), file.id)
    whole.update(bytes)
    yield bytes
  }
  if (whole.digest("hex") !== file.sha256)
    throw new StrataError("An archived file is damaged: its checksum does not match.", { code: "damaged" })
}

function withId(bytes: Buffer, id: string | undefined): Buffer {
  if (id === undefined || !bytes.includes(0)) return bytes
  const parts: Buffer[] = []
  const name = Buffer.from(id)
  let from = 0
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, from)) {
    parts.push(bytes.subarray(from, at), name)
    from = at + 1
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}
