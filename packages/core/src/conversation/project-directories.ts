/**
 * The directories of the store that belong to one project. A conversation is kept under its working directory, so worktrees and
 * subdirectories of a repository have directories of their own there. Each is noted beside the memory that they share, and stays noted
 * when the worktree is gone.
 */
import { mkdir, readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { isSafeId, projectName } from "../base/ids.ts"
import { DIRECTORY_MODE, FILE_MODE, projectDirectory } from "../journal/file/layout.ts"

const NOTED = "directories"
const MOST_NOTED = 50 // the last used ones: each is an index to search, and a directory to look through

export interface ProjectGround {
  /** The directory that Strata keeps its files in. */
  readonly root: string
  /** The name of the project whose memory is shared. */
  readonly identity: string
  readonly cwd: string
}

/** Notes a working directory of the project. The main one is found without a note. */
export async function noteDirectory({ root, identity, cwd }: ProjectGround): Promise<void> {
  const name = projectName(cwd)
  if (name === identity) return
  const notes = join(projectDirectory(root, identity), NOTED)
  await mkdir(notes, { recursive: true, mode: DIRECTORY_MODE })
  await writeFile(join(notes, name), `${cwd}\n`, { mode: FILE_MODE, flag: "wx" }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  })
}

/** Names of the project's directories in the store: this one, the main one, then those used last. */
export async function projectDirectories({ root, identity, cwd }: ProjectGround): Promise<readonly string[]> {
  const names = await readdir(join(projectDirectory(root, identity), NOTED)).catch(() => [] as string[])
  const used = await Promise.all(
    names.filter(isSafeId).map(async (name) => {
      const facts = await stat(projectDirectory(root, name)).catch(() => undefined)
      return facts?.isDirectory() ? [{ name, time: facts.mtimeMs }] : []
    }),
  )
  const others = used.flat().sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1))
  return [...new Set([projectName(cwd), identity, ...others.map(({ name }) => name)])].slice(0, MOST_NOTED)
}
