/** Names that a power cut could still take away: a new file is safe once its directory is flushed too. */
import { open } from "node:fs/promises"

export class NewNames {
  #directories: Set<string>

  constructor(directories: readonly string[]) {
    this.#directories = new Set(directories)
  }

  get isEmpty(): boolean {
    return this.#directories.size === 0
  }

  add(directories: readonly string[]): void {
    for (const directory of directories) this.#directories.add(directory)
  }

  /** What could not be flushed is due again. */
  async flush(): Promise<void> {
    const waiting = [...this.#directories]
    this.#directories = new Set()
    try {
      await Promise.all(waiting.map(flushDirectory))
    } catch (error) {
      this.add(waiting)
      throw error
    }
  }
}

const MOST_AT_ONCE = 8 // each has a descriptor, and a server has thousands of conversations

/** Directories that wait for their turn. Who asks for one of them shares its flush. */
const queue = new Map<string, PromiseWithResolvers<void>>()
let running = 0

/** Resolves when the names in a directory are on disk. */
export function flushDirectory(directory: string): Promise<void> {
  const known = queue.get(directory)
  if (known) return known.promise
  const waiting = Promise.withResolvers<void>()
  queue.set(directory, waiting)
  flushNext()
  return waiting.promise
}

function flushNext(): void {
  for (const [directory, waiting] of queue) {
    if (running === MOST_AT_ONCE) return
    queue.delete(directory)
    running++
    void flushed(directory)
      .then(waiting.resolve, waiting.reject)
      .finally(() => {
        running--
        flushNext()
      })
  }
}

/** Windows has no such flush, and some network disks refuse it: they keep names by themselves. */
async function flushed(directory: string): Promise<void> {
  if (process.platform === "win32") return
  const handle = await open(directory, "r")
  try {
    await handle.sync()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw error
  } finally {
    await handle.close()
  }
}
