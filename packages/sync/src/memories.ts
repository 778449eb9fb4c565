/** Syncs the memories of projects with one branch of a remote: fetch, merge, take in, push. If another machine pushed first, it starts again. */

import { StrataError } from "@strata/core"
import { type Clock, printable } from "@strata/core/base"
import type { MemoryFiles } from "@strata/core/store"
import type { Branch, BranchFile, BranchState } from "./git-branch.ts"
import type { RemoteTrust } from "./merge/decide.ts"
import { decodeMemories, encodeMemories } from "./merge/sync-format.ts"
import { NO_MEMORIES, type SyncedMemories } from "./merge/synced-memories.ts"
import type { TakenStep } from "./merge/take-in.ts"
import { type TakeIn, type TakenIn, takeIn } from "./merge/take-in.ts"
import type { SyncRemote } from "./remote.ts"

export const MEMORIES_BRANCH = "strata/memories"
const MAX_ATTEMPTS = 20 // each failure means that another machine succeeded
const MAX_TEXT_BYTES = 64 * 1024 * 1024 // of one file: the state names every memory
const README = "README.md"
const ABOUT = `Memories that Strata keeps for one person's machines. "strata sync" writes this branch: each sync replaces its only commit.\n`

export interface SyncedProject {
  readonly place: string
  readonly files: MemoryFiles
  readonly bank: TakeIn["bank"]
}

export interface MemorySync {
  readonly branch: Branch
  /** Which projects, given those that the remote has. */
  readonly projects: (there: ReadonlySet<string>) => Promise<readonly SyncedProject[]>
  readonly remote: SyncRemote
  readonly trust: RemoteTrust
  readonly clock: Clock
  readonly isDryRun: boolean
}

export interface ProjectReport {
  readonly project: string
  readonly steps: readonly TakenStep[]
  /** What of the remote was left out, one sentence each. */
  readonly problems: readonly string[]
}

export async function syncMemories(sync: MemorySync): Promise<readonly ProjectReport[]> {
  const reports = new Map<string, ProjectReport>()
  for (let attempt = 1; ; attempt++) {
    const state = await sync.branch.read()
    const [files, taken] = [new Map<string, Buffer | BranchFile>(state.files), [] as TakenIn[]]
    for (const project of await sync.projects(placesIn(state))) {
      const there = await memoriesIn(state, { ...sync, project })
      const { branch: _, projects: __, remote, ...how } = sync
      const one = await takeIn({ ...how, ...project, there: there.memories, remote: remote.key, title: remote.title })
      taken.push(one)
      put(files, project.place, one.next)
      add(reports, { project: project.place, steps: one.steps, problems: there.problems })
    }
    if (sync.isDryRun) return [...reports.values()]
    const outcome = await sync.branch.replace(files, state)
    if (outcome !== "overtaken") {
      for (const one of taken) await one.sent()
      return [...reports.values()]
    }
    if (attempt >= MAX_ATTEMPTS)
      throw new StrataError(
        `Other machines changed ${printable(sync.remote.title)} ${MAX_ATTEMPTS} times in a row. What came from there is kept here, and nothing was sent. Run the command again.`,
        { code: "sync-overtaken" },
      )
  }
}

/** What an earlier attempt did is part of the report. */
function add(reports: Map<string, ProjectReport>, report: ProjectReport): void {
  const before = reports.get(report.project)?.steps ?? []
  // what was to be sent was not sent then
  const done = before.filter(({ what }) => what !== "sent" && what !== "removed-there")
  const all = [...done, ...report.steps].map((step) => [JSON.stringify(step), step] as const)
  reports.set(report.project, { ...report, steps: [...new Map(all).values()] })
}

const folderOf = (place: string): string => `projects/${place}/`

function placesIn({ files }: BranchState): ReadonlySet<string> {
  const places = [...files.keys()].map((path) => /^projects\/([A-Za-z0-9-]{1,200})\/state\.json$/.exec(path)?.[1])
  return new Set(places.filter((place) => place !== undefined))
}

interface ReadMemories {
  readonly memories: SyncedMemories
  readonly problems: readonly string[]
}

async function memoriesIn(
  state: BranchState,
  { branch, project, remote }: Pick<MemorySync, "branch" | "remote"> & { readonly project: SyncedProject },
): Promise<ReadMemories> {
  const folder = folderOf(project.place)
  const own = [...state.files].filter(([path]) => path.startsWith(folder))
  if (own.length === 0) return { memories: NO_MEMORIES, problems: [] }
  const read = own.filter(([, { bytes }]) => bytes <= MAX_TEXT_BYTES).map(([, file]) => file)
  const contents = await branch.contents(read)
  const texts = own.map(([path, { blob }]) => [path.slice(folder.length), textOf(contents.get(blob))] as const)
  const decoded = decodeMemories(new Map(texts))
  if (decoded.state === "read") return decoded
  throw new StrataError(
    `The memories of ${project.place} on ${printable(remote.title)} cannot be used: ${decoded.why}. Nothing was changed there or here. Use the newest version of Strata on all machines, or delete the branch ${MEMORIES_BRANCH} to start again.`,
    { code: "sync-format" },
  )
}

function textOf(bytes: Buffer | undefined): string | undefined {
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A project without memories leaves no trace. */
function put(files: Map<string, Buffer | BranchFile>, place: string, memories: SyncedMemories): void {
  const folder = folderOf(place)
  for (const path of [...files.keys()]) if (path.startsWith(folder)) files.delete(path)
  const { files: current, changes, erased } = memories
  if (current.size + changes.size + erased.size === 0) return
  for (const [path, text] of encodeMemories(memories)) files.set(`${folder}${path}`, Buffer.from(text))
  files.set(README, Buffer.from(ABOUT))
}
