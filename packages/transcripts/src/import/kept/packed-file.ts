/**
 * A file to pieces and back, without holding it in memory. In a session's own file its id is stored as one zero byte: a fork repeats its
 * parent's lines with another id, and so shares the parent's pieces.
 */
import { createHash, type Hash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { StrataError } from "@strata/core/base"
import { PIECE_BYTES, type Pieces, type StoredPiece } from "./pieces.ts"
import type { KeptFile } from "./record.ts"

const READ_BYTES = 1024 * 1024
/** The file was removed, or a link or a socket took its place. */
const GONE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EMLINK", "ENXIO"])
const ZERO = Buffer.from([0])

export interface SourceFile {
  readonly path: string
  readonly name: string
  /** Of the session, if the file repeats it in its lines. */
  readonly id?: string
}

export interface PackedFile {
  readonly file: KeptFile
  /** Whether it begins with what was kept before. */
  readonly continues: boolean
}

/** `undefined` if it is no regular file any more. `before`: what was kept of it. */
export async function packFile(
  source: SourceFile,
  { pieces, before }: { readonly pieces: Pieces; readonly before?: KeptFile | undefined },
): Promise<PackedFile | undefined> {
  const handle = await open(source.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    (error: unknown) => {
      if (GONE.has(String(Object(error).code))) return undefined
      throw error // it is there and was not kept: the person has to know
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

interface Packing {
  readonly handle: FileHandle
  /** The program may append meanwhile: that is for the next time. */
  readonly size: number
  readonly pieces: Pieces
  readonly before: KeptFile | undefined
  readonly id: string | undefined
}

type Packed = Omit<KeptFile, "name" | "modifiedMs"> & { readonly continues: boolean }

/** Nothing if the file has a zero byte, which then cannot mean the id. */
async function pack({ handle, size, pieces, before, id }: Packing): Promise<Packed | undefined> {
  const stored: StoredPiece[] = []
  const prefix = new PrefixHash(before?.size ?? 0)
  let waiting: Buffer = Buffer.alloc(0)
  let uncut: Buffer = Buffer.alloc(0) // may end inside an id
  for (let at = 0; at < size; ) {
    const block = Buffer.alloc(Math.min(READ_BYTES, size - at))
    const { bytesRead } = await handle.read(block, 0, block.length, at)
    if (bytesRead === 0) break // it became shorter
    at += bytesRead
    const bytes = block.subarray(0, bytesRead)
    if (id !== undefined && bytes.includes(0)) return undefined
    prefix.add(bytes)
    const { done, rest } = withoutId(Buffer.concat([uncut, bytes]), { id, isLast: at >= size })
    uncut = rest
    waiting = Buffer.concat([waiting, done])
    for (; waiting.length >= PIECE_BYTES; waiting = waiting.subarray(PIECE_BYTES))
      stored.push(await pieces.add(waiting.subarray(0, PIECE_BYTES)))
  }
  const last = Buffer.concat([waiting, uncut])
  if (last.length > 0) stored.push(await pieces.add(last))
  const continues = before === undefined || prefix.atPrefix === before.sha256
  return { size: prefix.size, sha256: prefix.whole(), pieces: stored, continues, ...(id === undefined ? {} : { id }) }
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

/** The hash of the whole, and of its first bytes. */
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
    const left = this.#prefix - this.size
    if (left > 0 && left <= bytes.length) {
      this.#hash.update(bytes.subarray(0, left))
      this.atPrefix = this.#hash.copy().digest("hex")
      this.#hash.update(bytes.subarray(left))
    } else this.#hash.update(bytes)
    this.size += bytes.length
  }

  whole(): string {
    return this.#hash.digest("hex")
  }
}

/** The bytes of a kept file, piece by piece. Throws at the end if they are not those that were kept. */
export async function* unpacked(file: KeptFile, pieces: Pieces): AsyncGenerator<Buffer> {
  const whole = createHash("sha256")
  for (const { hash } of file.pieces) {
    const bytes = withId(await pieces.read(hash), file.id)
    whole.update(bytes)
    yield bytes
  }
  if (whole.digest("hex") !== file.sha256)
    throw new StrataError("A kept file is damaged: its checksum does not match.", { code: "damaged" })
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
