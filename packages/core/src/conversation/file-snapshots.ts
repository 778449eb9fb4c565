/**
 * Stores snapshots of files before tools change them, in the conversation's own directory and named by their hash. Each content is stored
 * once. Beyond the limits only the hash is known, and the file cannot be restored.
 */
import { hash } from "node:crypto"
import type { Journal } from "../journal/store.ts"

const MAX_FILE_BYTES = 4 * 1024 * 1024
/** Maximum total size of snapshots since the conversation was opened. */
const MAX_BYTES = 256 * 1024 * 1024

export class FileSnapshots {
  readonly #journal: Pick<Journal, "writeBlob">
  readonly #kept = new Set<string>()
  #bytes = 0

  constructor(journal: Pick<Journal, "writeBlob">) {
    this.#journal = journal
  }

  /** Stores a content and resolves with its hash. If it cannot be written, the change proceeds without a snapshot. */
  async keep(bytes: Uint8Array): Promise<string> {
    const sum = contentHash(bytes)
    const fits = bytes.length <= MAX_FILE_BYTES && this.#bytes + bytes.length <= MAX_BYTES
    if (this.#kept.has(sum) || !fits) return sum
    this.#kept.add(sum)
    this.#bytes += bytes.length
    await this.#journal.writeBlob(blobOf(sum), bytes).catch(() => this.#kept.delete(sum))
    return sum
  }

  /** Whether the content with this hash was stored since the conversation was opened. */
  keeps(sum: string): boolean {
    return this.#kept.has(sum)
  }
}

export const contentHash = (bytes: Uint8Array): string => hash("sha256", bytes, "hex")

/** The stored content with this hash. `undefined` if it was not stored, or is damaged. */
export async function readSnapshot(journal: Pick<Journal, "readBlob">, sum: string): Promise<Buffer | undefined> {
  if (!/^[0-9a-f]{64}$/.test(sum)) return undefined
  const bytes = await journal.readBlob(blobOf(sum)).catch(() => undefined)
  return bytes && contentHash(bytes) === sum ? bytes : undefined
}

const blobOf = (sum: string) => `file-${sum}`
