/**
 * The directories of the store that belong to one project of one owner. A conversation is kept under its working directory, so worktrees and
 * subdirectories of a repository have directories of their own there. Each is noted beside the memory that they share, and stays noted
 * when the worktree is gone.
 */
import { mkdir, readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { isSafeId, projectName } from "../base/ids.ts"
import { type Owner, placeFor } from "../base/owner.ts"
import { DIRECTORY_MODE, FILE_MODE, projectDirectory } from "../journal/file/layout.ts"

const NOTED = "directories"
const MOST_NOTED = 50 // the last used ones: each is an index to search, and a directory to look through

export interface ProjectGround {
  /** The directory that Strata keeps its files in. */
  readonly root: string
  /** The name of the project whose memory is shared. */
  readonly identity: string
  readonly cwd: string
  readonly owner: Owner
}

/** Notes a working directory of the project. The main one is found without a note. */
export async function noteDirectory(ground: ProjectGround): Promise<void> {
  const { root, cwd } = ground
  const { main, here: name } = placesIn(ground)
  if (name === main) return
  const notes = join(projectDirectory(root, main), NOTED)
  await mkdir(notes, { recursive: true, mode: DIRECTORY_MODE })
  await writeFile(join(notes, name), `${cwd}\n`, { mode: FILE_MODE, flag: "wx" }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  })
}

/** Names of the project's directories in the store: this one, the main one, then those used last. */
export async function projectDirectories(ground: ProjectGround): Promise<readonly string[]> {
  const { root } = ground
  const { main, here } = placesIn(ground)
  const names = await readdir(join(projectDirectory(root, main), NOTED)).catch(() => [] as string[])
  const used = await Promise.all(
    names.filter(isSafeId).map(async (name) => {
      const facts = await stat(projectDirectory(root, name)).catch(() => undefined)
      return facts?.isDirectory() ? [{ name, time: facts.mtimeMs }] : []
    }),
  )
  const others = used.flat().sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1))
  return [...new Set([here, main, ...others.map(({ name }) => name)])].slice(0, MOST_NOTED)
}

const placesIn = ({ identity, cwd, owner }: ProjectGround) => ({
  main: placeFor(identity, owner),
  here: placeFor(projectName(cwd), owner),
})
