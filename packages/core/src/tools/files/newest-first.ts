/** Sorts files by their last change, newest first: recent files are the most likely ones. */
import { stat } from "node:fs/promises"

/** Files with equal times are sorted by name, so the order is always the same. Files that are gone come last. */
export async function newestFirst(paths: readonly string[]): Promise<readonly string[]> {
  const timed = await Promise.all(paths.map(async (path) => ({ path, time: await modifiedMs(path) })))
  return timed.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map(({ path }) => path)
}

const modifiedMs = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
