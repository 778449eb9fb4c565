/**
 * Detects files that changed during a command, whatever program changed them. Compares names, sizes and times under a directory before and
 * after, without reading contents or following symbolic links. In a large tree, only the directories nearest to the root are scanned.
 */
import { existsSync, lstatSync, readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import type { FileChange } from "../../../messages/messages.ts"

/** Limits of one scan. On a local disk, scanning 10,000 files takes about 50 ms. */
const MAX_FILES = 10_000
const MAX_MS = 200
const SLICE_MS = 10 // time after which other work may run
/** Maximum number of listed changes. A build may write thousands of files. */
const MAX_CHANGES = 100

/** Directories that are not scanned: data of other programs, installed packages and caches. */
const SKIPPED_DIRECTORIES = new Set([
  ...[".git", ".hg", ".svn", ".jj", ".strata", "node_modules", "bower_components", ".venv", "venv", "site-packages"],
  ...["__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".turbo", ".next", ".tox"],
])

export interface ScanOptions {
  /** Absolute paths of directories to omit. */
  readonly without?: readonly string[]
  readonly maxFiles?: number
  readonly maxMs?: number
}

/** Content of one directory. */
interface DirectoryListing {
  /** Size, times and inode of each file, by name. */
  readonly files: ReadonlyMap<string, string>
  readonly directories: ReadonlySet<string>
}

/** Scanned directories by path. */
export type FileTree = ReadonlyMap<string, DirectoryListing>

export interface ChangedFiles {
  readonly files: readonly FileChange[]
  /** Number of changes that are not listed. */
  readonly more?: number
}

export async function scanTree(root: string, options: ScanOptions = {}): Promise<FileTree> {
  const { without = [], maxFiles = MAX_FILES, maxMs = MAX_MS } = options
  const tree = new Map<string, DirectoryListing>()
  const waiting = [root]
  const until = performance.now() + maxMs
  let [files, slice] = [0, performance.now()]
  for (let at = 0; at < waiting.length && files < maxFiles && performance.now() < until; at++) {
    const path = waiting[at]!
    const listing = scanDirectory(path, { room: maxFiles - files, until })
    if (listing) {
      tree.set(path, listing)
      files += listing.files.size
      for (const name of listing.directories) {
        const directory = join(path, name)
        if (!SKIPPED_DIRECTORIES.has(name) && !without.includes(directory)) waiting.push(directory)
      }
    }
    if (performance.now() - slice < SLICE_MS) continue
    await turn()
    slice = performance.now()
  }
  return tree
}

/** Scans one directory. `undefined` if it cannot be read, or not within the limits. */
function scanDirectory(path: string, { room, until }: { room: number; until: number }): DirectoryListing | undefined {
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
    return undefined // deleted in the meantime, or not readable
  }
}

/** Changes sorted by path. Only directories in both scans are compared. */
export function compareTrees(before: FileTree, after: FileTree): ChangedFiles {
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

/** Whether a directory is new, as opposed to not scanned before. */
function isNew(path: string, before: FileTree): boolean {
  const parent = dirname(path)
  const listing = before.get(parent)
  if (listing) return !listing.directories.has(basename(path))
  return parent !== path && isNew(parent, before)
}
