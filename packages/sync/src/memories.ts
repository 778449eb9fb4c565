/**
 * Syncs the memories of projects with one branch of a remote: fetch, merge, apply, push. If another machine pushes first, it starts again.
 */

import { StrataError } from "@strata/core"
import { type Clock, escapeToLine } from "@strata/core/base"
import type { MemoryFiles } from "@strata/core/store"
import type { Branch, BranchFile, BranchState } from "./git-branch.ts"
import type { MemoryStep } from "./merge/apply-remote.ts"
import { type ApplyRemoteOptions, type ApplyRemoteResult, applyRemote } from "./merge/apply-remote.ts"
import type { RemoteTrust } from "./merge/decide.ts"
import { decodeMemories, encodeMemories } from "./merge/sync-format.ts"
import { NO_MEMORIES, type SyncedMemories } from "./merge/synced-memories.ts"
import type { SyncRemote } from "./remote.ts"

export const MEMORIES_BRANCH = "strata/memories"
const MAX_ATTEMPTS = 20 // each failure means that another machine succeeded
const MAX_TEXT_BYTES = 64 * 1024 * 1024 // per file; state.json names every memory
const README = "README.md"
const ABOUT = `Memories that Strata keeps for one person's machines. "strata sync" writes this branch: each sync replaces its only commit.\n`

export interface SyncedProject {
  readonly key: string
  readonly files: MemoryFiles
  readonly bank: ApplyRemoteOptions["bank"]
}

export interface MemorySyncOptions {
  readonly branch: Branch
  /** The projects to sync, given the projects that the remote has. */
  readonly projects: (there: ReadonlySet<string>) => Promise<readonly SyncedProject[]>
  readonly remote: SyncRemote
  readonly trust: RemoteTrust
  readonly clock: Clock
  readonly isDryRun: boolean
}

export interface ProjectReport {
  readonly project: string
  readonly steps: readonly MemoryStep[]
  /** One sentence for each part of the remote that was skipped. */
  readonly problems: readonly string[]
}

export async function syncMemories(sync: MemorySyncOptions): Promise<readonly ProjectReport[]> {
  const reports = new Map<string, ProjectReport>()
  for (let attempt = 1; ; attempt++) {
    const state = await sync.branch.read()
    const [files, results] = [new Map<string, Buffer | BranchFile>(state.files), [] as ApplyRemoteResult[]]
    for (const project of await sync.projects(projectsIn(state))) {
      const there = await readMemories(state, { ...sync, project })
      const { branch: _, projects: __, remote, ...how } = sync
      const one = await applyRemote({
        ...how,
        ...project,
        there: there.memories,
        remote: remote.key,
        title: remote.title,
      })
      results.push(one)
      put(files, project.key, one.next)
      add(reports, { project: project.key, steps: one.steps, problems: there.problems })
    }
    if (sync.isDryRun) return [...reports.values()]
    const outcome = await sync.branch.replace(files, state)
    if (outcome !== "conflict") {
      for (const one of results) await one.sent()
      return [...reports.values()]
    }
    if (attempt >= MAX_ATTEMPTS)
      throw new StrataError(
        `Other machines changed ${escapeToLine(sync.remote.title)} ${MAX_ATTEMPTS} times during this sync. Its memories were saved here, and nothing was sent. Run the command again.`,
        { code: "sync-conflict" },
      )
  }
}

/** Merges a report with that of an earlier attempt, whose changes on this machine stay in effect. */
function add(reports: Map<string, ProjectReport>, report: ProjectReport): void {
  const before = reports.get(report.project)?.steps ?? []
  // the earlier attempt's push failed, so nothing was sent or removed on the remote
  const done = before.filter(({ what }) => what !== "sent" && what !== "removed-there")
  const all = [...done, ...report.steps].map((step) => [JSON.stringify(step), step] as const)
  reports.set(report.project, { ...report, steps: [...new Map(all).values()] })
}

const folderOf = (place: string): string => `projects/${place}/`

function projectsIn({ files }: BranchState): ReadonlySet<string> {
  const places = [...files.keys()].map((path) => /^projects\/([A-Za-z0-9-]{1,200})\/state\.json$/.exec(path)?.[1])
  return new Set(places.filter((place) => place !== undefined))
}

interface RemoteMemories {
  readonly memories: SyncedMemories
  readonly problems: readonly string[]
}

async function readMemories(
  state: BranchState,
  { branch, project, remote }: Pick<MemorySyncOptions, "branch" | "remote"> & { readonly project: SyncedProject },
): Promise<RemoteMemories> {
  const folder = folderOf(project.key)
  const own = [...state.files].filter(([path]) => path.startsWith(folder))
  if (own.length === 0) return { memories: NO_MEMORIES, problems: [] }
  const read = own.filter(([, { bytes }]) => bytes <= MAX_TEXT_BYTES).map(([, file]) => file)
  const contents = await branch.contents(read)
  const texts = own.map(([path, { blob }]) => [path.slice(folder.length), decodeText(contents.get(blob))] as const)
  const decoded = decodeMemories(new Map(texts))
  if (decoded.state === "read") return decoded
  throw new StrataError(
    `The memories of ${project.key} on ${escapeToLine(remote.title)} cannot be used: ${decoded.why}. Nothing was changed there or here. Update Strata on all machines, or delete the branch ${MEMORIES_BRANCH} to start over.`,
    { code: "sync-format" },
  )
}

function decodeText(bytes: Buffer | undefined): string | undefined {
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Replaces a project's folder on the branch. A project without memories gets none. */
function put(files: Map<string, Buffer | BranchFile>, place: string, memories: SyncedMemories): void {
  const folder = folderOf(place)
  for (const path of [...files.keys()]) if (path.startsWith(folder)) files.delete(path)
  const { files: current, changes, erased } = memories
  if (current.size + changes.size + erased.size === 0) return
  for (const [path, text] of encodeMemories(memories)) files.set(`${folder}${path}`, Buffer.from(text))
  files.set(README, Buffer.from(ABOUT))
}
