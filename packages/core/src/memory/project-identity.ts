/**
 * Which project a directory belongs to. In git it is the repository: all its worktrees and subdirectories are one project, and
 * two clones are two. Only files are read; git is not run.
 */
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { projectName } from "../base/ids.ts"
import { linkFactsOf, realPath } from "../base/path-facts.ts"
import { readPlainStart } from "../base/plain-file.ts"

const MOST_POINTER_BYTES = 16 * 1024 // a path and a word before it, or the config of a submodule

interface ProjectIdentity {
  /** The main working directory of the repository, the bare repository, or the directory itself. */
  readonly directory: string
  /** The name of its directory in the store. */
  readonly name: string
}

export async function projectIdentity(cwd: string): Promise<ProjectIdentity> {
  const start = realPath(cwd) ?? resolve(cwd)
  const directory = (await repositoryAbove(start)) ?? start
  return { directory, name: projectName(directory) }
}

async function repositoryAbove(start: string): Promise<string | undefined> {
  for (let at = start; ; at = dirname(at)) {
    const found = await repositoryAt(at)
    if (found !== undefined) return found
    if (dirname(at) === at) return undefined
  }
}

/** The repository that begins here. */
async function repositoryAt(directory: string): Promise<string | undefined> {
  if (isGitDirectory(directory)) return ownerOf(directory) // inside `.git`, or a bare repository
  const dotGit = join(directory, ".git")
  const facts = linkFactsOf(dotGit)
  if (facts === undefined) return undefined
  if (facts.isDirectory()) return isGitDirectory(dotGit) ? directory : undefined
  // a file, or a link: it points to the repository, which may be anyone's
  const target = facts.isSymbolicLink() ? realPath(dotGit) : await pointedAt(dotGit)
  const gitDirectory = target && realPath(target)
  if (gitDirectory === undefined) return directory
  return (await sharedRepository(directory, gitDirectory)) ?? directory
}

/** The repository of a linked worktree, if that repository knows this worktree. */
async function sharedRepository(directory: string, gitDirectory: string): Promise<string | undefined> {
  const common = await firstLine(join(gitDirectory, "commondir"))
  if (common === undefined) return undefined // a submodule, or a repository with its data elsewhere: a project of its own
  const commonDirectory = realPath(resolve(gitDirectory, common))
  if (commonDirectory === undefined || !isGitDirectory(commonDirectory)) return undefined
  if (dirname(dirname(gitDirectory)) !== commonDirectory || basename(dirname(gitDirectory)) !== "worktrees")
    return undefined
  const back = await firstLine(join(gitDirectory, "gitdir"))
  if (back === undefined) return undefined
  const pointsBack = realPath(resolve(gitDirectory, back))
  if (pointsBack !== join(directory, ".git")) return undefined
  return ownerOf(commonDirectory)
}

/**
 * The directory a person would call the repository: the one with `.git` in it. For a submodule it is the one that the submodule
 * is checked out in, and for a bare repository the repository itself.
 */
async function ownerOf(gitDirectory: string): Promise<string> {
  if (basename(gitDirectory) === ".git") return dirname(gitDirectory)
  const config = (await beginningOf(join(gitDirectory, "config"))) ?? ""
  const worktree = /^\s*worktree\s*=\s*"?([^"\n\r]+)"?\s*$/m.exec(config)?.[1]?.trim()
  const checkout = worktree && realPath(resolve(gitDirectory, worktree))
  const pointsHere = checkout && (await pointedAt(join(checkout, ".git")))
  const isOurs = pointsHere && realPath(pointsHere) === gitDirectory
  return isOurs ? checkout : gitDirectory
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
