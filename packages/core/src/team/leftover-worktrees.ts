/**
 * Removes working trees that agents left without a change because their process was killed. Only those that Strata made for this
 * repository, and only of conversations that no process has open. A tree with changes stays until someone merges or drops it.
 */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { isSafeId } from "../base/ids.ts"
import type { Store } from "../journal/store.ts"
import { Worktree, type WorktreePlace, worktreesDirectory } from "./worktree.ts"

export interface Leftovers extends Pick<WorktreePlace, "cwd" | "root" | "env" | "project"> {
  readonly store: Store
  /** The conversation that is open here. None of its agents has begun yet. */
  readonly conversation: string
}

/** Never rejects: what cannot be removed now is looked at again at the next start. */
export async function dropUnchangedWorktrees(leftovers: Leftovers): Promise<void> {
  const { store, project, conversation: own } = leftovers
  const directory = worktreesDirectory(leftovers)
  for (const conversation of await namesIn(directory)) {
    const agents = await namesIn(join(directory, conversation))
    try {
      // opening it for writing takes its lock, so no process begins to work in these trees meanwhile
      const journal =
        conversation === own ? undefined : await store.open({ project, id: conversation }, { access: "write" })
      try {
        for (const agent of agents) await dropIfUnchanged({ ...leftovers, conversation, agent })
      } finally {
        await journal?.close()
      }
    } catch {} // of another project, or in use
  }
}

async function dropIfUnchanged(place: WorktreePlace): Promise<void> {
  try {
    const worktree = await Worktree.find(place)
    const changes = await worktree?.changes() // fails for a tree of another repository
    if (changes?.files.length === 0) await worktree?.drop()
  } catch {}
}

const namesIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory).catch(() => [])).filter(isSafeId)
