/**
 * A file's text as it is on disk now. Only the path that was read before counts: if a link has replaced the file or a directory above it,
 * another file would be shown under its name. Never throws: what cannot be read is `undefined`.
 */
import { realpath } from "node:fs/promises"
import { readTextIfPresent } from "../../../tools/files/file-content.ts"

export interface ReadAgain {
  readonly text: string
  readonly modifiedMs: number
}

export type ReadFileAgain = (path: string, signal: AbortSignal) => Promise<ReadAgain | undefined>

export const readAgain: ReadFileAgain = async (path, signal) => {
  try {
    if ((await realpath(path)) !== path) return undefined // before it is opened: a link may lead to anything
    const file = await readTextIfPresent({ given: path, path }, { signal, directory: NOWHERE })
    const isSamePlace = (await realpath(path)) === path // it may have been replaced while it was read
    return file && isSamePlace ? { text: file.text, modifiedMs: file.stats.mtimeMs } : undefined
  } catch {
    return undefined // gone, no permission, a directory, not text, too large, interrupted: it makes no difference here
  }
}

/** Paths are absolute, so there is no working directory. */
const NOWHERE = { get: () => "/", set: () => undefined }
