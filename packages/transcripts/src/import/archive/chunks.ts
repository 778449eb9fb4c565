/**
 * Stores chunks of archived files, compressed, under the hash of their bytes, each once. A chunk appears completely or not at all. An
 * existing chunk is verified before anything relies on it, so a damaged one is replaced.
 */
import { hash } from "node:crypto"
import { open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { zstdCompress, zstdDecompress } from "node:zlib"
import { errorReason, StrataError } from "@strata/core/base"
import { FILE_MODE, makeDirectory } from "@strata/core/store"

/**
 * Chunk size. A session grows at its end, so all chunks but the last stay the same. Smaller chunks share more, larger ones compress better.
 */
export const CHUNK_BYTES = 256 * 1024

const HASH = /^[0-9a-f]{64}$/
/** Suffix of files that are not complete. */
export const DRAFT = ".draft"
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

export interface StoredChunk {
  readonly hash: string
  /** Size on disk, compressed. */
  readonly bytes: number
}

export class ChunkStore {
  readonly #directory: string
  /** Folders with new names, which are not durable before the folders are flushed. */
  readonly #changed = new Set<string>()
  #settled: Promise<unknown> = Promise.resolve()
  /** Makes the names of drafts unique: two sessions may add the same chunk concurrently. */
  #written = 0

  constructor(directory: string) {
    this.#directory = directory
  }

  async add(bytes: Buffer): Promise<StoredChunk> {
    const name = hash("sha256", bytes, "hex")
    const path = this.#path(name)
    const there = await this.read(name).catch(() => undefined)
    if (there) return { hash: name, bytes: (await stat(path)).size }
    const packed = await compress(bytes)
    await makeDirectory(dirname(path))
    await writeDurably(path, packed, `.${this.#written++}`)
    this.#changed.add(dirname(path))
    return { hash: name, bytes: packed.length }
  }

  async read(name: string): Promise<Buffer> {
    const path = this.#path(name)
    try {
      const bytes = await decompress(await readFile(path), { maxOutputLength: CHUNK_BYTES })
      if (hash("sha256", bytes, "hex") === name) return bytes
    } catch (error) {
      throw damaged(errorReason(error), error)
    }
    throw damaged("its checksum does not match")
  }

  /** Makes all added chunks durable against a crash of the machine. */
  async settle(): Promise<void> {
    const changed = [...this.#changed, this.#directory]
    this.#changed.clear()
    // includes folders that another session is flushing now
    this.#settled = Promise.all([this.#settled, ...changed.map(flushFolder)])
    await this.#settled
  }

  /** Removes all chunks that are not in `named`, and drafts of killed processes. Returns the bytes freed. */
  async removeOthers(named: ReadonlySet<string>): Promise<number> {
    let freed = 0
    for (const folder of await readdir(this.#directory).catch(() => [])) {
      for (const rest of await readdir(join(this.#directory, folder)).catch(() => [])) {
        if (named.has(`${folder}${rest}`)) continue
        const path = join(this.#directory, folder, rest)
        freed += (await stat(path).catch(() => undefined))?.size ?? 0
        await rm(path, { force: true })
      }
    }
    return freed
  }

  #path(name: string): string {
    if (!HASH.test(name)) throw damaged("its name is not a hash")
    return join(this.#directory, name.slice(0, 2), name.slice(2))
  }
}

const damaged = (why: string, cause?: unknown) =>
  new StrataError(`A chunk of an archived session is damaged or missing (${why}).`, { code: "damaged", cause })

/** Writes, flushes and then renames a file, so that a reader sees the old or the new version. Only one process writes at a time. */
export async function writeDurably(path: string, bytes: Buffer, mark = ""): Promise<void> {
  const draft = `${path}${mark}${DRAFT}`
  await rm(draft, { force: true }) // left by a killed process
  await writeFile(draft, bytes, { mode: FILE_MODE, flag: "wx", flush: true })
  await rename(draft, path)
}

/** Flushes a folder. Some systems cannot do that; there the rename has to suffice. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined)
  try {
    await folder?.sync().catch(() => undefined)
  } finally {
    await folder?.close()
  }
}
