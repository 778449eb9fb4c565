/** Creates a directory and its parents, readable only by their owner. */
import { lstat, mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { DIRECTORY_MODE } from "./layout.ts"

/**
 * Creates one level after another, because Node's recursive `mkdir` never returns below a directory that takes no entries, such as
 * `/proc`.
 *
 * Resolves with the directories that have a new entry.
 */
export async function makeDirectory(path: string): Promise<readonly string[]> {
  const missing: string[] = []
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined
      throw error
    })
    if (found?.isDirectory()) break
    if (found) throw Object.assign(new Error(`${at} is not a directory`), { code: "ENOTDIR", path: at })
    missing.push(at)
    if (dirname(at) === at) break
  }
  for (const directory of missing.reverse())
    await mkdir(directory, { mode: DIRECTORY_MODE }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error // another process created it in the meantime
    })
  return missing.map((directory) => dirname(directory))
}

/** Throws if one of our directories is a symbolic link, which would redirect writes elsewhere. */
export async function mustNotBeLink(directory: string): Promise<void> {
  if ((await lstat(directory)).isSymbolicLink()) throw new Error(`${directory} is a symbolic link`)
}
