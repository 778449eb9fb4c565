/** Appends to a file that is open for appending. */
import { writeSync } from "node:fs"
import type { FileHandle } from "node:fs/promises"

/** Up to here the write itself takes less time than handing it to another thread and waiting for the answer. */
const AT_ONCE_BYTES = 128 * 1024

/** Resolves when all bytes are written. A failure may leave some of them. */
export async function appendBytes(handle: FileHandle, bytes: Buffer): Promise<void> {
  if (bytes.length > AT_ONCE_BYTES) await handle.appendFile(bytes)
  else for (let done = 0; done < bytes.length; ) done += writeSync(handle.fd, bytes, done)
}
