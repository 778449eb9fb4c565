/** Says when a file changes, also when another process writes it. It watches the folder: a file that is replaced has another inode. */
import { type FSWatcher, statSync, watch } from "node:fs"
import { basename, dirname } from "node:path"

const SETTLE_MS = 120 // several lines are written at once
const LOOK_MS = 2_000 // where the system reports nothing: a shared disk, too many watchers

export interface FileFollower {
  close(): void
}

/** Calls back after each change, not more often than every `SETTLE_MS`. */
export function followFile(path: string, onChange: () => void): FileFollower {
  const name = basename(path.replace(SESSION, ""))
  let last = markOf(path)
  let soon: NodeJS.Timeout | undefined
  const look = () => {
    soon = undefined
    const now = markOf(path)
    if (now === last) return
    last = now
    onChange()
  }
  const later = () => {
    soon ??= setTimeout(look, SETTLE_MS)
  }
  let watcher: FSWatcher | undefined
  try {
    watcher = watch(dirname(path), (_event, changed) => {
      if (changed === null || changed === name) later()
    })
    watcher.on("error", () => watcher?.close())
    watcher.unref()
  } catch {
    // the slower look below finds changes too
  }
  const slow = setInterval(look, LOOK_MS).unref()
  return {
    close() {
      watcher?.close()
      clearInterval(slow)
      if (soon) clearTimeout(soon)
    },
  }
}

/** How a session in a database is named: the database, then `#` and the session. */
const SESSION = /(?<=\.db)#.*$/

/** Changes with every change of the file. */
export function markOf(path: string): string {
  const found = statSync(path.replace(SESSION, ""), { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ""
}
