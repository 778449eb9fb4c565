/** Makes a directory and those above it, readable by their owner only. */
import { lstat, mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { DIRECTORY_MODE } from "./layout.ts"

/**
 * One level after another, because the recursive `mkdir` of Node never returns below a directory that takes no entries, such as `/proc`.
 *
 * Resolves with the directories that have a new name in them.
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
      if (error.code !== "EEXIST") throw error // another process made it in the meantime
    })
  return missing.map((directory) => dirname(directory))
}

/** A link in place of one of our directories would send what is written somewhere else. */
export async function mustNotBeLink(directory: string): Promise<void> {
  if ((await lstat(directory)).isSymbolicLink()) throw new Error(`${directory} is a symbolic link`)
}
