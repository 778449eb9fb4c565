/** Whether the files of a memory may have changed since they were read. To look at every file costs far more than a report. */
import { join, posix } from "node:path"
import type { MemoryFilesWatch } from "../memory-files.ts"
import { FolderWatch } from "./folder-watch.ts"

const ALL_AGAIN_MS = 60_000 // what another machine changes is not reported

export class MemoryWatch implements MemoryFilesWatch {
  readonly #directory: string
  readonly #watches = new Map<string, FolderWatch>()
  /** Of hidden folders only these matter: much else is written there. */
  #hidden: ReadonlySet<string> = new Set()
  #since = Number.NEGATIVE_INFINITY

  constructor(directory: string) {
    this.#directory = directory
  }

  async isUnchanged(): Promise<boolean> {
    const isSame = await Promise.all(
      [...this.#watches].map(async ([folder, watch]) => {
        const changed = await watch.changed()
        return changed !== undefined && ![...changed].some((name) => this.#matters(folder, name))
      }),
    )
    return performance.now() - this.#since < ALL_AGAIN_MS && isSame.every(Boolean)
  }

  async follow(paths: Iterable<string>): Promise<boolean> {
    const all = [...paths]
    this.#hidden = new Set(all.filter((path) => path.startsWith(".")))
    const folders = new Set([".", ...all.map((path) => posix.dirname(path))])
    for (const [folder, watch] of this.#watches) {
      if (folders.has(folder)) continue
      watch.close()
      this.#watches.delete(folder)
    }
    let isWatched = true
    for (const folder of folders) {
      if (this.#watches.has(folder)) continue
      const watch = new FolderWatch(join(this.#directory, folder))
      this.#watches.set(folder, watch)
      await watch.changed() // from here on
      isWatched = false
    }
    if (isWatched) this.#since = performance.now()
    return isWatched
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close()
    this.#watches.clear()
    this.#since = Number.NEGATIVE_INFINITY
  }

  #matters(folder: string, name: string): boolean {
    const isHidden = folder.startsWith(".") && folder !== "."
    return isHidden || name.startsWith(".") ? this.#hidden.has(posix.join(folder, name)) : true
  }
}
