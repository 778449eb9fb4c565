/**
 * Reads complete files up to a size limit. Only regular files are read, because a device may never end and a pipe may never start. The file
 * that was checked is the one that is read, even if another file takes its name meanwhile.
 */
import { constants, type Stats } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import type { ToolContext } from "../tool.ts"
import { FileError, isMissing, toFileError } from "./file-error.ts"
import { describeBinary, formatBytes } from "./file-kind.ts"
import { missingFile, type Target } from "./paths.ts"
import { type DecodedText, decodeText } from "./text-encoding.ts"

/** Maximum size, because a read holds the complete file in memory. Larger files can be searched with Grep or cut with a command. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

const CHUNK_BYTES = 256 * 1024

export interface FileContent {
  readonly bytes: Buffer
  readonly stats: Stats
}

export interface TextFile extends DecodedText, FileContent {}

type ReadContext = Pick<ToolContext, "directory" | "signal">

export async function readContent(target: Target, context: ReadContext): Promise<FileContent> {
  const content = await readIfPresent(target, context)
  if (content === undefined) throw await missingFile(target, context.directory.get())
  return content
}

/** Reads a file as text. `undefined` if the file does not exist. */
export async function readTextIfPresent(target: Target, context: ReadContext): Promise<TextFile | undefined> {
  const content = await readIfPresent(target, context)
  if (content === undefined) return undefined
  const decoded = decodeText(content.bytes)
  if (decoded === undefined) {
    const format = describeBinary(content.bytes, target.path)
    throw new FileError(
      `${target.inputPath} is not text (${format}), so it was not changed. Use a program made for such files.`,
    )
  }
  return { ...decoded, ...content }
}

async function readIfPresent(target: Target, { signal }: ReadContext): Promise<FileContent | undefined> {
  let handle: FileHandle | undefined
  try {
    refuseUnlessRegular(target, await stat(target.path)) // checked before opening, because opening a device can have side effects
    handle = await open(target.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = await handle.stat()
    refuseUnlessRegular(target, stats)
    const bytes = await readBounded(handle, signal)
    if (bytes.length > MAX_FILE_BYTES) throw tooLarge(target, bytes.length)
    return { bytes, stats }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw toFileError(target.inputPath, error)
  } finally {
    await handle?.close()
  }
}

/** Reads up to slightly more than the limit. The reported size is not reliable: files under /proc report 0, and a log may grow. */
async function readBounded(handle: FileHandle, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let length = 0; length <= MAX_FILE_BYTES; ) {
    signal.throwIfAborted()
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES))
    if (bytesRead === 0) break
    chunks.push(buffer.subarray(0, bytesRead))
    length += bytesRead
  }
  return Buffer.concat(chunks)
}

function refuseUnlessRegular(target: Target, stats: Stats): void {
  const { inputPath } = target
  if (stats.isDirectory())
    throw new FileError(`${inputPath} is a directory, not a file. List it with Glob (pattern "*") or with ls.`)
  if (stats.isFIFO()) throw new FileError(`${inputPath} is a named pipe, not a file. It was not opened.`)
  if (stats.isSocket()) throw new FileError(`${inputPath} is a socket, not a file. It was not opened.`)
  if (!stats.isFile()) throw new FileError(`${inputPath} is a device, not a file. It was not opened.`)
  if (stats.size > MAX_FILE_BYTES) throw tooLarge(target, stats.size)
}

function tooLarge({ inputPath }: Target, bytes: number): FileError {
  return new FileError(
    `${inputPath} has ${formatBytes(bytes)}, more than the ${formatBytes(MAX_FILE_BYTES)} that can be opened. ` +
      `Search it with Grep, or cut a part out with a command (sed -n '1000,1200p').`,
  )
}
