/**
 * The disk as a shell would see it: links followed the way the kernel does, so `link/../f` is not `f`. What it looks at is counted, so a
 * hostile line cannot keep it busy: beyond the limit every answer is "not known".
 */
import { type Dirent, lstatSync, readdirSync, readlinkSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { readPlainFileSync } from "../../../../base/files.ts"

const MAX_LINKS = 40 // what Linux allows
const MAX_LOOKUPS = 20_000
const MAX_ENTRIES = 50_000

export type FileKind = "file" | "directory" | "other" | "missing"

export class Disk {
  #lookups = MAX_LOOKUPS
  #entries = MAX_ENTRIES
  readonly #links = new Map<string, string | undefined>()

  /** Every link followed; a part that does not exist yet stays as it is. `undefined`: not known. */
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
      if (next.startsWith("/proc/")) return next // `/proc/self` leads to another place for each process
      if (target.startsWith("/")) place = "/"
      pending.push(...partsOf(target).reverse())
    }
    return place
  }

  /** `undefined`: it cannot be listed. */
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

  kindOf(path: string): FileKind {
    if (--this.#lookups < 0) return "other"
    try {
      const stats = statSync(path)
      return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other"
    } catch {
      return "missing"
    }
  }

  /** Whether there is an entry of this name, be it a link that leads nowhere. */
  isThere(path: string): boolean {
    if (--this.#lookups < 0) return true
    try {
      lstatSync(path)
      return true
    } catch {
      return false
    }
  }

  /** `undefined`: missing, unreadable, no plain file, or larger than `most` bytes. A pipe would be waited for. */
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
        target = undefined // nothing there, or not a link
      }
    }
    this.#links.set(path, target)
    return target
  }
}

/** The bytes of a name were no text, so the name leads to another file or to none. */
export const isNoText = (name: string): boolean => name.includes("\ufffd")

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".")
