/**
 * A file's text as it is on disk now. Only what stands at the very path that was read before: where a link has taken its place, or that of
 * a directory above it, another file would be shown under its name. Never throws: what cannot be read is `undefined`.
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
    return undefined // gone, no rights, a directory, not text, too large, interrupted: all the same here
  }
}

/** Paths are absolute: there is no directory they could begin at. */
const NOWHERE = { get: () => "/", set: () => undefined }
