/**
 * Facts about paths. An opening asks for dozens of them, mostly of files that do not exist. Asked synchronously each takes
 * microseconds; a promise and its error cost twenty times as much.
 */
import { lstatSync, realpathSync, type Stats, statSync } from "node:fs"

/** Every link followed. `undefined` if it does not exist or cannot be reached. */
export function realPath(path: string): string | undefined {
  if (factsOf(path) === undefined) return undefined
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** Of what the path leads to. `undefined` if there is nothing, or it cannot be reached. */
export function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Of the path itself, which may be a link. */
export function linkFactsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Certainly nothing is there. A path that cannot be reached is not missing. */
export function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}
