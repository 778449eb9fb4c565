/**
 * What became of a linked worktree: in use, its branch merged, or gone. Only git's files are read; git is not run. A merge that leaves no
 * trace there, such as a squash on a server, is not recognised.
 */
import { constants } from "node:fs"
import { lstat, open, stat } from "node:fs/promises"
import { join } from "node:path"
import { beginningOf, firstLine, type LinkedWorktree } from "./project-identity.ts"

const MOST_LOG_BYTES = 256 * 1024 // the newest merges are at the end
const MOST_PACKED_BYTES = 4 * 1024 * 1024
/** Records of what was merged: into whatever the main worktree has checked out, and into the usual main branches. */
const LOGS = ["logs/HEAD", "logs/refs/heads/main", "logs/refs/heads/master"] as const

export type WorktreeState = "in use" | "merged" | "gone"

/** What was true when the worktree's memory was last brought together with the project's. */
export interface WorktreeMark {
  /** The commit that the worktree was at. */
  readonly commit?: string
  /** How long each log was. What came later is looked at. */
  readonly logs: Readonly<Record<string, number>>
}

export async function markOf({ gitDirectory, commonDirectory }: LinkedWorktree): Promise<WorktreeMark> {
  const { commit } = await headOf({ gitDirectory, commonDirectory })
  const lengths = LOGS.map(async (log) => [log, (await stat(join(commonDirectory, log)).catch(() => undefined))?.size])
  const logs = Object.fromEntries((await Promise.all(lengths)).filter(([, size]) => size !== undefined))
  return { ...(commit === undefined ? {} : { commit }), logs }
}

export async function worktreeState(worktree: LinkedWorktree, mark: WorktreeMark): Promise<WorktreeState> {
  if (await isGone(worktree)) return "gone"
  return (await isMerged(worktree, mark)) ? "merged" : "in use"
}

/** A locked worktree may be on a disk that is not connected now. */
async function isGone({ directory, gitDirectory }: LinkedWorktree): Promise<boolean> {
  if (await isMissing(gitDirectory)) return true
  return (await isMissing(join(directory, ".git"))) && (await isMissing(join(gitDirectory, "locked")))
}

async function isMissing(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return false
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === "ENOENT" || code === "ENOTDIR"
  }
}

async function isMerged(worktree: LinkedWorktree, mark: WorktreeMark): Promise<boolean> {
  const { branch, commit } = await headOf(worktree)
  if (commit === undefined || commit === mark.commit) return false // nothing was made here since
  for (const log of LOGS) {
    if (branch !== undefined && log === `logs/refs/heads/${branch}`) continue
    const lines = await linesAfter(join(worktree.commonDirectory, log), mark.logs[log] ?? 0)
    if (lines.some((line) => isMergeOf(line, { branch, commit }))) return true
  }
  return false
}

/** A line is: the commit before, the commit after, who and when, a tab, and what was done. */
function isMergeOf(line: string, { branch, commit }: { branch: string | undefined; commit: string }): boolean {
  const [facts = "", action = ""] = line.split("\t")
  return facts.split(" ")[1] === commit || (branch !== undefined && action.startsWith(`merge ${branch}:`))
}

async function linesAfter(path: string, seen: number): Promise<readonly string[]> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined) // a pipe would wait
  if (!file) return []
  try {
    const facts = await file.stat()
    if (!facts.isFile()) return []
    const { size } = facts
    const from = Math.max(seen > size ? 0 : seen, size - MOST_LOG_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    return buffer.toString("utf8", 0, bytesRead).split("\n")
  } finally {
    await file.close()
  }
}

interface Head {
  readonly branch?: string
  readonly commit?: string
}

async function headOf(worktree: Pick<LinkedWorktree, "gitDirectory" | "commonDirectory">): Promise<Head> {
  const line = (await firstLine(join(worktree.gitDirectory, "HEAD"))) ?? ""
  const branch = /^ref: refs\/heads\/(.+)$/.exec(line)?.[1]
  if (branch === undefined) return isCommit(line) ? { commit: line } : {}
  if (branch.split("/").some((part) => part === ".." || part === "")) return {}
  const loose = await firstLine(join(worktree.commonDirectory, "refs", "heads", ...branch.split("/")))
  const commit = isCommit(loose) ? loose : await packed(worktree.commonDirectory, branch)
  return { branch, ...(commit === undefined ? {} : { commit }) }
}

async function packed(commonDirectory: string, branch: string): Promise<string | undefined> {
  const text = (await beginningOf(join(commonDirectory, "packed-refs"), MOST_PACKED_BYTES)) ?? ""
  const line = text.split("\n").find((one) => one.endsWith(` refs/heads/${branch}`))
  const commit = line?.split(" ")[0]
  return isCommit(commit) ? commit : undefined
}

const isCommit = (text: string | undefined): text is string =>
  text !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
