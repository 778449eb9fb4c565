/**
 * Pieces of kept files: each is stored once, under the hash of its bytes, compressed. A piece appears whole or not at all. One that is
 * there already is read back before anything relies on it, so a damaged one is replaced.
 */
import { hash } from "node:crypto"
import { open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { zstdCompress, zstdDecompress } from "node:zlib"
import { reasonOf, StrataError } from "@strata/core/base"
import { FILE_MODE, makeDirectory } from "@strata/core/store"

/** A session grows at its end, so all pieces but the last stay the same. Smaller ones share more, larger ones compress better. */
export const PIECE_BYTES = 256 * 1024

const HASH = /^[0-9a-f]{64}$/
/** The end of names of files that are not finished. */
export const DRAFT = ".draft"
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

export interface StoredPiece {
  readonly hash: string
  /** As it is stored. */
  readonly bytes: number
}

export class Pieces {
  readonly #directory: string
  /** Folders with new names, which are not safe on disk before they are flushed too. */
  readonly #changed = new Set<string>()
  #settled: Promise<unknown> = Promise.resolve()
  /** Two sessions may add the same piece side by side. */
  #written = 0

  constructor(directory: string) {
    this.#directory = directory
  }

  async add(bytes: Buffer): Promise<StoredPiece> {
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
      const bytes = await decompress(await readFile(path), { maxOutputLength: PIECE_BYTES })
      if (hash("sha256", bytes, "hex") === name) return bytes
    } catch (error) {
      throw damaged(reasonOf(error), error)
    }
    throw damaged("its checksum does not match")
  }

  /** After this, a crash of the machine loses none of what was added. */
  async settle(): Promise<void> {
    const changed = [...this.#changed, this.#directory]
    this.#changed.clear()
    // also what another session's turn is flushing now
    this.#settled = Promise.all([this.#settled, ...changed.map(flushFolder)])
    await this.#settled
  }

  /** Removes every piece that is not named, and what a killed process left. Returns the bytes that this frees. */
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
  new StrataError(`A piece of a kept session is damaged or missing (${why}).`, { code: "damaged", cause })

/** Written, flushed, then renamed: a reader sees the old file or the new one. Only one process writes at a time. */
export async function writeDurably(path: string, bytes: Buffer, mark = ""): Promise<void> {
  const draft = `${path}${mark}${DRAFT}`
  await rm(draft, { force: true }) // of a killed process
  await writeFile(draft, bytes, { mode: FILE_MODE, flag: "wx", flush: true })
  await rename(draft, path)
}

/** Some systems cannot flush a folder; there a rename is all that can be done. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined)
  try {
    await folder?.sync().catch(() => undefined)
  } finally {
    await folder?.close()
  }
}
