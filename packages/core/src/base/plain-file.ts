/**
 * Reads files that anyone may have put there, such as those of a clone. A pipe would wait for ever and a device has no end, so only regular
 * files are read, and only up to a size.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { open } from "node:fs/promises"

const WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK

/** The file cannot be used. The message is part of a sentence: "it is a directory". */
export class PlainFileError extends Error {
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** The whole file. Throws a `PlainFileError` for what is not a regular file of at most so many bytes, and the system's error otherwise. */
export async function readPlainFile(path: string, most: number): Promise<Buffer> {
  const { bytes, isCut } = await readPlainStart(path, most)
  if (isCut) throw new PlainFileError(`it has more than ${most} bytes`)
  return bytes
}

/** The first bytes of a file. The size is checked while reading: a file can grow after it was looked at. */
export async function readPlainStart(path: string, most: number): Promise<{ bytes: Buffer; isCut: boolean }> {
  const file = await open(path, WITHOUT_WAITING)
  try {
    const stats = await file.stat()
    checkKind(stats)
    const bytes = Buffer.alloc(Math.min(most, stats.size) + 1)
    let length = 0
    for (let read = 1; read > 0 && length < bytes.length; length += read)
      read = (await file.read(bytes, length, bytes.length - length, length)).bytesRead
    return { bytes: bytes.subarray(0, Math.min(length, most)), isCut: length > most }
  } finally {
    await file.close()
  }
}

/** The last bytes of a file. */
export async function readPlainEnd(path: string, most: number): Promise<Buffer> {
  const file = await open(path, WITHOUT_WAITING)
  try {
    const stats = await file.stat()
    checkKind(stats)
    const bytes = Buffer.alloc(Math.min(most, stats.size))
    const { bytesRead } = await file.read(bytes, 0, bytes.length, stats.size - bytes.length)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** As `readPlainFile`, for the few places that cannot wait. */
export function readPlainFileSync(path: string, most: number): Buffer {
  const file = openSync(path, WITHOUT_WAITING)
  try {
    const stats = fstatSync(file)
    checkKind(stats)
    const bytes = Buffer.alloc(Math.min(most, stats.size) + 1)
    let length = 0
    for (let read = 1; read > 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, length)
    if (length > most) throw new PlainFileError(`it has more than ${most} bytes`)
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

function checkKind(stats: { isDirectory(): boolean; isFile(): boolean }): void {
  if (stats.isDirectory()) throw new PlainFileError("it is a directory", "EISDIR")
  if (!stats.isFile()) throw new PlainFileError("it is not a regular file")
}
