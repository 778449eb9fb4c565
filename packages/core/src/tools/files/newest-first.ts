/** Files in the order of their last change, the newest first: what was worked on is most often what is looked for. */
import { stat } from "node:fs/promises"

/** Equal times go by name, so that the same files are always in the same order. What is gone meanwhile comes last. */
export async function newestFirst(paths: readonly string[]): Promise<readonly string[]> {
  const timed = await Promise.all(paths.map(async (path) => ({ path, time: await modifiedMs(path) })))
  return timed.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map(({ path }) => path)
}

const modifiedMs = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
