/**
 * Keeps the contents of files before tools change them, in the conversation's own directory and named by their sum. A content is kept once.
 * Beyond the bounds only the sum is known, and the file cannot be put back.
 */
import { hash } from "node:crypto"
import type { Journal } from "../journal/store.ts"

const MAX_FILE_BYTES = 4 * 1024 * 1024
/** Of all contents kept since the conversation was opened. */
const MAX_BYTES = 256 * 1024 * 1024

export class FileKeeper {
  readonly #journal: Pick<Journal, "writeBlob">
  readonly #kept = new Set<string>()
  #bytes = 0

  constructor(journal: Pick<Journal, "writeBlob">) {
    this.#journal = journal
  }

  /** Resolves with the sum. A content that cannot be written is not kept; the change goes on. */
  async keep(bytes: Uint8Array): Promise<string> {
    const sum = sumOf(bytes)
    const fits = bytes.length <= MAX_FILE_BYTES && this.#bytes + bytes.length <= MAX_BYTES
    if (this.#kept.has(sum) || !fits) return sum
    this.#kept.add(sum)
    this.#bytes += bytes.length
    await this.#journal.writeBlob(blobOf(sum), bytes).catch(() => this.#kept.delete(sum))
    return sum
  }

  /** Whether the content with a sum was kept since the conversation was opened. */
  keeps(sum: string): boolean {
    return this.#kept.has(sum)
  }
}

export const sumOf = (bytes: Uint8Array): string => hash("sha256", bytes, "hex")

/** The content with a sum. `undefined`: it was not kept, or it is damaged. */
export async function keptContent(journal: Pick<Journal, "readBlob">, sum: string): Promise<Buffer | undefined> {
  if (!/^[0-9a-f]{64}$/.test(sum)) return undefined
  const bytes = await journal.readBlob(blobOf(sum)).catch(() => undefined)
  return bytes && sumOf(bytes) === sum ? bytes : undefined
}

const blobOf = (sum: string) => `file-${sum}`
