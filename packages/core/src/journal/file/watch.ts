/** Detects whether memory files may have changed since they were read. Checking every file costs far more than a report from the system. */

import { type FSWatcher, statSync, watch } from "node:fs"
import { join, posix } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { MemoryFilesWatch } from "../memory-files.ts"

// Watches a folder for changes that the system reports. Only Linux is trusted with that, because there a change is queued before the write
// returns. Changes by another machine on a shared disk are not reported, so check everything now and then.

const IS_PROMPT = process.platform === "linux"

/** All users of a folder share one watcher: a server has many conversations open in it. */
interface WatchedFolder {
  readonly watcher: FSWatcher
  readonly inode: number
  users: number
  /** Counts the reports. */
  reported: number
  /** The number of the last report, by file name. */
  readonly names: Map<string, number>
  isOver: boolean
}

const watchedFolders = new Map<string, WatchedFolder>()

export class FolderWatch {
  readonly #folder: string
  #watched: WatchedFolder | undefined
  /** Whether the folder was missing at the last call. */
  #isMissing = false
  #seen = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The names of files that changed since the last call. `undefined` if unknown: then check everything. */
  async changed(): Promise<ReadonlySet<string> | undefined> {
    if (!IS_PROMPT) return undefined
    // reports arrive when the process polls for events: after one round at the earliest, after two at the latest
    await setImmediate()
    await setImmediate()
    const inode = statSync(this.#folder, { throwIfNoEntry: false })?.ino
    const known = this.#watched
    if (this.#isMissing && inode === undefined) return new Set()
    if (!known || known.isOver || known.inode !== inode) {
      this.close()
      this.#isMissing = inode === undefined
      this.#watched = inode === undefined ? undefined : watchFolder(this.#folder, inode)
      this.#seen = this.#watched?.reported ?? 0
      return undefined
    }
    const names = known.reported === this.#seen ? [] : [...known.names].filter(([, number]) => number > this.#seen)
    this.#seen = known.reported
    return new Set(names.map(([name]) => name))
  }

  close(): void {
    const watched = this.#watched
    this.#watched = undefined
    if (!watched || --watched.users > 0) return
    watched.watcher.close()
    if (watchedFolders.get(this.#folder) === watched) watchedFolders.delete(this.#folder)
  }
}

/** Returns `undefined` if the system cannot watch another folder. */
function watchFolder(folder: string, inode: number): WatchedFolder | undefined {
  const known = watchedFolders.get(folder)
  if (known && !known.isOver && known.inode === inode) {
    known.users++
    return known
  }
  try {
    const watcher = watch(folder, { persistent: false })
    const watched: WatchedFolder = { watcher, inode, users: 1, reported: 0, names: new Map(), isOver: false }
    const end = () => {
      watched.isOver = true
    }
    watcher.on("change", (_, name) => {
      if (name === null) end()
      else watched.names.set(String(name), ++watched.reported)
    })
    watcher.on("error", end)
    watchedFolders.set(folder, watched)
    return watched
  } catch {
    return undefined
  }
}

const FULL_CHECK_MS = 60_000 // changes by another machine are not reported

export class MemoryWatch implements MemoryFilesWatch {
  readonly #directory: string
  readonly #watches = new Map<string, FolderWatch>()
  /** The only files of hidden folders that matter: many others are written there. */
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
    return performance.now() - this.#since < FULL_CHECK_MS && isSame.every(Boolean)
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
      await watch.changed() // starts watching
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
