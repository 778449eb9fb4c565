/**
 * Finds the files that changed around a command, whatever program changed them. It compares names, sizes and times under a directory before
 * and after; it reads no contents and follows no links. In a large tree it looks at the directories nearest to the top only.
 */
import { existsSync, lstatSync, readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import type { FileChange } from "../../../messages/messages.ts"

/** One look ends at either of these. On a local disk 10,000 files take about 50 ms. */
const MAX_FILES = 10_000
const MAX_MS = 200
const SLICE_MS = 10 // other work gets its turn after this
/** A build may write thousands of files. */
const MAX_CHANGES = 100

/** Other programs' own records, installed packages and caches. */
const NOT_LOOKED_AT = new Set([
  ...[".git", ".hg", ".svn", ".jj", ".strata", "node_modules", "bower_components", ".venv", "venv", "site-packages"],
  ...["__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".turbo", ".next", ".tox"],
])

export interface Looking {
  /** Directories to leave out, by their whole path. */
  readonly without?: readonly string[]
  readonly maxFiles?: number
  readonly maxMs?: number
}

/** What a look found in one directory. */
interface Listing {
  /** Size, time and place on disk of each file, by name. */
  readonly files: ReadonlyMap<string, string>
  readonly directories: ReadonlySet<string>
}

/** The directories that were read, by path. */
export type Tree = ReadonlyMap<string, Listing>

export interface ChangedFiles {
  readonly files: readonly FileChange[]
  /** How many more changed. */
  readonly more?: number
}

export async function lookAt(root: string, options: Looking = {}): Promise<Tree> {
  const { without = [], maxFiles = MAX_FILES, maxMs = MAX_MS } = options
  const tree = new Map<string, Listing>()
  const waiting = [root]
  const until = performance.now() + maxMs
  let [files, slice] = [0, performance.now()]
  for (let at = 0; at < waiting.length && files < maxFiles && performance.now() < until; at++) {
    const path = waiting[at]!
    const listing = listed(path, { room: maxFiles - files, until })
    if (listing) {
      tree.set(path, listing)
      files += listing.files.size
      for (const name of listing.directories) {
        const directory = join(path, name)
        if (!NOT_LOOKED_AT.has(name) && !without.includes(directory)) waiting.push(directory)
      }
    }
    if (performance.now() - slice < SLICE_MS) continue
    await turn()
    slice = performance.now()
  }
  return tree
}

/** Missing if it cannot be read, or not within the bounds. */
function listed(path: string, { room, until }: { room: number; until: number }): Listing | undefined {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    const names = entries.flatMap((entry) => (entry.isFile() ? entry.name : []))
    if (names.length > room) return undefined
    const files = new Map<string, string>()
    for (const name of names) {
      const found = lstatSync(join(path, name), { throwIfNoEntry: false })
      if (found) files.set(name, `${found.size}:${found.mtimeMs}:${found.ctimeMs}:${found.ino}`)
      if (performance.now() > until) return undefined
    }
    return { files, directories: new Set(entries.flatMap((entry) => (entry.isDirectory() ? entry.name : []))) }
  } catch {
    return undefined // gone meanwhile, or not ours to read
  }
}

/** In the order of their paths. Only directories that both looks read are compared. */
export function changedBetween(before: Tree, after: Tree): ChangedFiles {
  const changes: FileChange[] = []
  for (const [path, { files }] of after) {
    const old = before.get(path)?.files
    if (!old && !isNew(path, before)) continue
    for (const [name, stamp] of files) {
      const was = old?.get(name)
      if (was !== stamp) changes.push({ path: join(path, name), what: was === undefined ? "created" : "changed" })
    }
  }
  for (const [path, { files }] of before) {
    const now = after.get(path)?.files
    if (!now && existsSync(path)) continue
    for (const name of files.keys()) if (!now?.has(name)) changes.push({ path: join(path, name), what: "deleted" })
  }
  changes.sort((a, b) => (a.path < b.path ? -1 : 1))
  const more = changes.length - MAX_CHANGES
  return { files: changes.slice(0, MAX_CHANGES), ...(more > 0 ? { more } : {}) }
}

/** Whether a directory was not there before, as opposed to not looked at. */
function isNew(path: string, before: Tree): boolean {
  const parent = dirname(path)
  const listing = before.get(parent)
  if (listing) return !listing.directories.has(basename(path))
  return parent !== path && isNew(parent, before)
}
