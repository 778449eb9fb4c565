/**
 * Which repository a directory belongs to: all worktrees and subdirectories of one are one. Only files are read; git is not run. What a
 * `.git` points to may be anyone's, so it counts only where it points back.
 */
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path"
import { factsOf, linkFactsOf, realPath } from "./path-facts.ts"
import { readPlainStart } from "./plain-file.ts"

const MOST_POINTER_BYTES = 16 * 1024 // a path and a word before it, or the config of a submodule

export interface GitRepository {
  /** The main working directory, or the bare repository. */
  readonly directory: string
  /** Where git keeps what all worktrees share. Absent: `.git` points to what does not point back. */
  readonly common?: string
}

/** For a real path. A home directory kept in git is not the repository of what is below it. */
export async function repositoryOf(
  start: string,
  { home }: { readonly home?: string | undefined } = {},
): Promise<GitRepository | undefined> {
  const end = home === undefined ? undefined : (realPath(home) ?? home)
  for (let at = start; ; at = dirname(at)) {
    if (at === end && at !== start) return undefined
    const found = await repositoryAt(at)
    if (found !== undefined && !(await isContent(at, { home })))
      return at === start || mayHold(at, start) ? found : undefined
    if (dirname(at) === at) return undefined
  }
}

/**
 * Whether it is a bare repository in another's working directory: a clone may bring such files, and they would name any project. No clone
 * brings a `.git`.
 */
async function isContent(directory: string, options: { readonly home?: string | undefined }): Promise<boolean> {
  if (directory.split(sep).includes(".git") || !isGitDirectory(directory)) return false
  return (await repositoryOf(dirname(directory), options)) !== undefined
}

/** In a shared directory such as `/tmp` anyone can put a repository. One above counts only if it is yours, or of the owner below. */
function mayHold(above: string, start: string): boolean {
  const owners = new Set([process.getuid?.(), factsOf(start)?.uid])
  const dotGit = factsOf(join(above, ".git"))
  return owners.has(factsOf(above)?.uid) && (dotGit === undefined || owners.has(dotGit.uid))
}

/** The repository that begins here. */
async function repositoryAt(directory: string): Promise<GitRepository | undefined> {
  // inside `.git`, or a bare repository
  if (isGitDirectory(directory)) return { directory: await ownerOf(directory), common: directory }
  const dotGit = join(directory, ".git")
  const facts = linkFactsOf(dotGit)
  if (facts === undefined) return undefined
  if (facts.isDirectory()) return isGitDirectory(dotGit) ? { directory, common: dotGit } : undefined
  // a file, or a link: it points to the repository, which may be anyone's
  const target = facts.isSymbolicLink() ? realPath(dotGit) : await pointedAt(dotGit)
  const gitDirectory = target && realPath(target)
  if (gitDirectory === undefined) return { directory }
  return (await sharedRepository(directory, gitDirectory)) ?? (await ownRepository(directory, gitDirectory))
}

/** The repository of a linked worktree, if that repository knows this worktree. */
async function sharedRepository(directory: string, gitDirectory: string): Promise<GitRepository | undefined> {
  const common = await firstLine(join(gitDirectory, "commondir"))
  if (common === undefined) return undefined
  const commonDirectory = realPath(resolve(gitDirectory, common))
  if (commonDirectory === undefined || !isGitDirectory(commonDirectory)) return undefined
  if (dirname(dirname(gitDirectory)) !== commonDirectory || basename(dirname(gitDirectory)) !== "worktrees")
    return undefined
  const back = await firstLine(join(gitDirectory, "gitdir"))
  if (back === undefined) return undefined
  const pointsBack = realPath(resolve(gitDirectory, back))
  if (pointsBack !== join(directory, ".git")) return undefined
  return { directory: await ownerOf(commonDirectory), common: commonDirectory }
}

/** A submodule, or a repository with its data elsewhere: its settings name this directory. */
async function ownRepository(directory: string, gitDirectory: string): Promise<GitRepository> {
  const isOurs = isGitDirectory(gitDirectory) && (await worktreeOf(gitDirectory)) === directory
  return isOurs ? { directory, common: gitDirectory } : { directory }
}

/**
 * The directory a person would call the repository: the one with `.git` in it. For a submodule it is the one that the submodule
 * is checked out in, and for a bare repository the repository itself.
 */
async function ownerOf(gitDirectory: string): Promise<string> {
  if (basename(gitDirectory) === ".git") return dirname(gitDirectory)
  const checkout = await worktreeOf(gitDirectory)
  const pointsHere = checkout && (await pointedAt(join(checkout, ".git")))
  const isOurs = pointsHere && realPath(pointsHere) === gitDirectory
  return isOurs ? checkout : gitDirectory
}

/** The directory that the settings of a repository name. */
async function worktreeOf(gitDirectory: string): Promise<string | undefined> {
  const config = (await beginningOf(join(gitDirectory, "config"))) ?? ""
  const worktree = /^\s*worktree\s*=\s*"?([^"\n\r]+)"?\s*$/m.exec(config)?.[1]?.trim()
  return worktree && realPath(resolve(gitDirectory, worktree))
}

async function pointedAt(dotGit: string): Promise<string | undefined> {
  const path = /^gitdir:\s*(.+)$/.exec((await firstLine(dotGit)) ?? "")?.[1]?.trim()
  if (path === undefined || path.includes("\0")) return undefined
  return isAbsolute(path) ? path : resolve(dirname(dotGit), path)
}

/** Git itself looks for these three. */
function isGitDirectory(path: string): boolean {
  const [head, objects, refs] = ["HEAD", "objects", "refs"].map((name) => linkFactsOf(join(path, name)))
  return head !== undefined && objects?.isDirectory() === true && refs?.isDirectory() === true
}

/** The first line of a small file, trimmed. */
const firstLine = async (path: string): Promise<string | undefined> =>
  (await beginningOf(path))?.split(/\r?\n/, 1)[0]?.trim()

async function beginningOf(path: string): Promise<string | undefined> {
  const start = await readPlainStart(path, MOST_POINTER_BYTES).catch(() => undefined)
  return start?.bytes.toString("utf8")
}
