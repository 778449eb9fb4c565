/**
 * The places of the store that belong to one project of one owner. A conversation is kept under its working directory, so worktrees and
 * subdirectories of a repository have places of their own there. Each is noted beside the memory that they share, and stays noted
 * when the worktree is gone.
 */
import { stat } from "node:fs/promises"
import { isSafeId, projectName } from "../base/ids.ts"
import { type Owner, placeFor } from "../base/owner.ts"
import { fileStore } from "../journal/file/file-store.ts"
import type { Store } from "../journal/store.ts"

const MOST_NOTED = 50 // the last used ones: each is an index to search, and a directory to look through

export interface ProjectGround {
  readonly store: Store
  /** The name of the project whose memory is shared. */
  readonly identity: string
  readonly cwd: string
  readonly owner: Owner
}

/** Notes a working directory of the project. The main one is found without a note. */
export async function noteDirectory(ground: ProjectGround): Promise<void> {
  const { main, here } = placesIn(ground)
  if (here === main) return
  const notes = notesOf(ground)
  if ((await notes.read(here)) === undefined) await notes.install([{ path: here, text: `${ground.cwd}\n` }])
}

/** Names of the project's places in the store: this one, the main one, then those used last. */
export async function projectDirectories(ground: ProjectGround): Promise<readonly string[]> {
  const { main, here } = placesIn(ground)
  const noted = await notesOf(ground)
    .list()
    .catch(() => [])
  const used = await Promise.all(
    noted
      .filter(({ path }) => isSafeId(path))
      .map(async ({ path: name, modified }) => {
        const directory = journalDirectoryOf(ground.store, name)
        if (directory === undefined) return [{ name, time: Date.parse(modified) }]
        const facts = await stat(directory).catch(() => undefined)
        return facts?.isDirectory() ? [{ name, time: facts.mtimeMs }] : []
      }),
  )
  const others = used.flat().sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1))
  return [...new Set([here, main, ...others.map(({ name }) => name)])].slice(0, MOST_NOTED)
}

/** The same for the files under a root, where locks are. */
export const placesUnder = ({ root, ...rest }: Omit<ProjectGround, "store"> & { readonly root: string }) =>
  projectDirectories({ ...rest, store: fileStore({ root }) })

/** The directory with the journals of a project. Nothing if the store keeps no files. */
export function journalDirectoryOf(store: Store, project: string): string | undefined {
  const feed = store.feed({ project })
  feed.close()
  return feed.directory
}

const notesOf = (ground: ProjectGround) =>
  ground.store.memories({ project: placesIn(ground).main, beside: "directories" })

const placesIn = ({ identity, cwd, owner }: ProjectGround) => ({
  main: placeFor(identity, owner),
  here: placeFor(projectName(cwd), owner),
})
