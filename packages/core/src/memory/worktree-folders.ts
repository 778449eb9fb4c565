/** Where the memories of worktrees are: folders of the project's memory. */
import type { MemoryFiles } from "../journal/memory-files.ts"

/** One folder for each worktree. */
export const WORKTREES = ".worktrees"
/** The histories and archives of worktrees that are gone. */
export const MERGED = ".merged"
/** In the folder of a worktree: the texts that both had when they were last brought together. */
export const BASE = ".base"

/** Every folder that may hold texts of worktrees. */
export async function foldersOfWorktrees(files: MemoryFiles): Promise<readonly string[]> {
  const listed = [...(await files.list(WORKTREES)), ...(await files.list(MERGED))]
  return [...new Set(listed.map(({ path }) => path.split("/").slice(0, 2).join("/")))]
}
