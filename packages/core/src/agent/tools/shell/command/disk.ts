/**
 * File system access as a shell sees it: symbolic links are followed as the kernel does, so `link/../f` is not `f`. Accesses are counted,
 * so that a hostile line cannot consume much time: beyond the limit every result is unknown.
 */
import { type Dirent, lstatSync, readdirSync, readlinkSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { readPlainFileSync } from "../../../../base/files.ts"

const MAX_LINKS = 40 // limit on Linux
const MAX_LOOKUPS = 20_000
const MAX_ENTRIES = 50_000

export type DiskEntryKind = "file" | "directory" | "other" | "missing"

export class Disk {
  #lookups = MAX_LOOKUPS
  #entries = MAX_ENTRIES
  readonly #links = new Map<string, string | undefined>()

  /** Resolves all symbolic links; missing parts remain unchanged. `undefined`: unknown. */
  realPath(path: string): string | undefined {
    if (path.includes("\0")) return undefined
    const pending = partsOf(path).reverse()
    let place = "/"
    let followed = 0
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (name === "..") {
        place = dirname(place)
        continue
      }
      const next = join(place, name)
      const target = this.#linkAt(next)
      if (target === undefined) {
        if (this.#lookups <= 0) return undefined
        place = next
        continue
      }
      if (++followed > MAX_LINKS) return undefined
      if (next.startsWith("/proc/")) return next // `/proc/self` is different for each process
      if (target.startsWith("/")) place = "/"
      pending.push(...partsOf(target).reverse())
    }
    return place
  }

  /** Lists a directory. `undefined` if that is not possible. */
  list(directory: string): readonly Dirent[] | undefined {
    if (--this.#lookups < 0 || this.#entries <= 0) return undefined
    try {
      const entries = readdirSync(directory, { withFileTypes: true })
      this.#entries -= entries.length
      return this.#entries < 0 ? undefined : entries
    } catch {
      return undefined
    }
  }

  kindOf(path: string): DiskEntryKind {
    if (--this.#lookups < 0) return "other"
    try {
      const stats = statSync(path)
      return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other"
    } catch {
      return "missing"
    }
  }

  /** Whether an entry with this name exists, including broken symbolic links. */
  isThere(path: string): boolean {
    if (--this.#lookups < 0) return true
    try {
      lstatSync(path)
      return true
    } catch {
      return false
    }
  }

  /** Reads a file. `undefined` if it is missing, unreadable, not a regular file, or larger than `max` bytes. A pipe would block. */
  read(path: string, max: number): Buffer | undefined {
    if (--this.#lookups < 0) return undefined
    try {
      return readPlainFileSync(path, max)
    } catch {
      return undefined
    }
  }

  get isExhausted(): boolean {
    return this.#lookups <= 0 || this.#entries <= 0
  }

  #linkAt(path: string): string | undefined {
    if (this.#links.has(path)) return this.#links.get(path)
    let target: string | undefined
    if (--this.#lookups > 0) {
      try {
        target = readlinkSync(path)
      } catch {
        target = undefined // missing, or not a link
      }
    }
    this.#links.set(path, target)
    return target
  }
}

/** Whether a file name was not valid UTF-8, so that the decoded name refers to another file or none. */
export const isInvalidName = (name: string): boolean => name.includes("\ufffd")

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".")
