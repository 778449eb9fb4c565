/**
 * Sorts files by modification time, newest first, because recent files are the most likely ones. Ties are sorted by name, so that the order
 * is stable, and deleted files come last.
 */
import { stat } from "node:fs/promises"

export async function newestFirst(paths: readonly string[]): Promise<readonly string[]> {
  const timed = await Promise.all(paths.map(async (path) => ({ path, time: await modifiedMs(path) })))
  return timed.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map(({ path }) => path)
}

const modifiedMs = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
