/** Whether the files of a memory may have changed since they were read. To look at every file costs far more than a report. */
import { join, posix } from "node:path"
import { FolderWatch } from "../journal/file/folder-watch.ts"
import { HEAD } from "./changes/history.ts"

const ALL_AGAIN_MS = 60_000 // what another machine changes is not reported
const HISTORY_FOLDER = posix.dirname(HEAD)

export class MemoryWatch {
  readonly #directory: string
  readonly #watches = new Map<string, FolderWatch>()
  #since = Number.NEGATIVE_INFINITY

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Since the last call of `follow`. */
  async isUnchanged(): Promise<boolean> {
    const isSame = await Promise.all(
      [...this.#watches].map(async ([folder, watch]) => {
        const changed = await watch.changed()
        return changed !== undefined && ![...changed].some((name) => isMemorys(folder, name))
      }),
    )
    return performance.now() - this.#since < ALL_AGAIN_MS && isSame.every(Boolean)
  }

  /**
   * Watches the folders of these files from now on. Whether they were watched before: then what was read since `isUnchanged` is what the
   * watch is about. Otherwise read again.
   */
  async follow(files: Iterable<string>): Promise<boolean> {
    const folders = new Set([".", HISTORY_FOLDER, ...[...files].map((file) => posix.dirname(file))])
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
}

/** Whether something of this name can change the memories. Of the history, only its head can. */
const isMemorys = (folder: string, name: string) =>
  folder === HISTORY_FOLDER ? name === posix.basename(HEAD) : !name.startsWith(".")
