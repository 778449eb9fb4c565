/**
 * Syncs sessions with a branch of their own: journals byte for byte, with their sub-agents, notes and offloaded results. If one version
 * begins with the other, the longer one wins. If both sides were continued, both are kept. Nothing is removed on either side.
 */

import { isSafeId, type Store, StrataError } from "@strata/core"
import { type Clock, findSecrets } from "@strata/core/base"
import type { Contents, JournalAddress } from "@strata/core/store"
import type { Branch, BranchFile, BranchState } from "./git-branch.ts"
import { compareLines, pairSessions } from "./session-pairs.ts"
import {
  BLOB,
  continueSession,
  listLocalSessions,
  NOTES,
  OPEN,
  type StoredSession,
  sessionPath,
} from "./stored-session.ts"

export const SESSIONS_BRANCH = "strata/sessions"
const MAX_ATTEMPTS = 20 // each failure means that another machine succeeded
const MAX_FILE_BYTES = 95 * 1024 * 1024 // git hosts refuse files over 100 MB

export type SessionStep =
  | { readonly what: "sent" | "received"; readonly session: string }
  /** Both sides were continued. `as` is the local id of the other version. */
  | { readonly what: "kept-both"; readonly session: string; readonly as: string }
  /** `why` is the end of a sentence. */
  | { readonly what: "not-sent" | "not-received"; readonly session: string; readonly why: string }

export interface SessionSync {
  readonly store: Store
  readonly clock: Clock
  readonly branch: Branch
  readonly projects: (there: ReadonlySet<string>) => Promise<readonly string[]>
  readonly isDryRun: boolean
  /** Includes sessions with text that looks like a secret. */
  readonly withSecrets: boolean
}

export interface SessionReport {
  readonly project: string
  readonly steps: readonly SessionStep[]
}

export async function syncSessions(sync: SessionSync): Promise<readonly SessionReport[]> {
  const [contents, received] = [sync.store.contents(), new Map<string, SessionStep[]>()]
  for (let attempt = 1; ; attempt++) {
    const state = await sync.branch.read()
    const files = new Map<string, Buffer | BranchFile>(state.files)
    const reports: SessionReport[] = []
    for (const project of await sync.projects(projectsIn(state))) {
      const steps = await syncProject(project, { ...sync, contents, state, files })
      const before = received.get(project) ?? []
      received.set(project, [...before, ...steps.filter(({ what }) => what === "received" || what === "kept-both")])
      reports.push({ project: project, steps: [...before, ...steps] })
    }
    if (sync.isDryRun || (await sync.branch.replace(files, state)) !== "conflict") return reports
    if (attempt >= MAX_ATTEMPTS)
      throw new StrataError(
        `Other machines changed the remote ${MAX_ATTEMPTS} times during this sync. Its sessions were saved here, and nothing was sent. Run the command again.`,
        { code: "sync-conflict" },
      )
  }
}

function projectsIn({ files }: BranchState): ReadonlySet<string> {
  const places = [...files.keys()].map((path) => /^projects\/([A-Za-z0-9-]{1,200})\//.exec(path)?.[1])
  return new Set(places.filter((place) => place !== undefined))
}

interface SessionSyncState extends SessionSync {
  readonly contents: Contents
  readonly state: BranchState
  /** The new files of the branch. */
  readonly files: Map<string, Buffer | BranchFile>
}

type Sessions = ReadonlyMap<string, StoredSession>

const folderOf = (project: string): string => `projects/${project}/`

async function syncProject(project: string, syncing: SessionSyncState): Promise<readonly SessionStep[]> {
  const [here, there] = [await listLocalSessions(syncing.contents, project), await listRemoteSessions(syncing, project)]
  const steps: SessionStep[] = []
  for (const pair of pairSessions({ here: conversationLines(here), there: conversationLines(there) })) {
    const isBranch = pair.here !== pair.there && !here.has(pair.here)
    const sync = (agent?: string) => {
      const nameIn = (id: string) => (agent === undefined ? { id } : { id: agent, under: id })
      const [name, path] = [nameIn(pair.here), sessionPath(nameIn(pair.there))]
      const sides = { ours: here.get(sessionPath(name)), theirs: there.get(path) }
      return syncOne(syncing, { ...sides, address: { project, ...name }, folder: `${folderOf(project)}${path}/` })
    }
    const own = await sync()
    steps.push(
      ...own.map((step) =>
        step.what === "received" && isBranch
          ? { what: "kept-both" as const, session: pair.there, as: pair.here }
          : step,
      ),
    )
    if (own.some((step) => "why" in step)) continue // its sub-agents are skipped with it
    const agents = new Set([...agentsOf(here, pair.here), ...agentsOf(there, pair.there)])
    // steps of sub-agents are reported only if they failed
    for (const id of [...agents].sort()) steps.push(...(await sync(id)).filter((step) => "why" in step))
  }
  return steps
}

/** The lines of conversations, without sub-agents. */
const conversationLines = (sessions: Sessions): ReadonlyMap<string, Buffer> =>
  new Map([...sessions].flatMap(([path, { lines }]) => (path.includes("/") ? [] : [[path, lines] as const])))

function agentsOf(sessions: Sessions, id: string): readonly string[] {
  const start = sessionPath({ id: "", under: id })
  return [...sessions.keys()].flatMap((path) => (path.startsWith(start) ? [path.slice(start.length)] : []))
}

interface OnePair {
  readonly address: JournalAddress
  /** Folder of the session on the branch. */
  readonly folder: string
  readonly ours: StoredSession | undefined
  readonly theirs: StoredSession | undefined
}

async function syncOne(syncing: SessionSyncState, pair: OnePair): Promise<readonly SessionStep[]> {
  const { address, ours, theirs } = pair
  const session = address.id
  const { state } = compareLines(ours?.lines ?? EMPTY, theirs?.lines ?? EMPTY)
  if (state === "same") return []
  // only possible for a sub-agent whose conversation is equal on both sides
  if (state === "diverged") return [{ what: "not-received", session, why: "it was continued on both sides" }]
  const what = state === "ours-longer" ? "sent" : "received"
  const act = async () => {
    if (what === "sent") return send(syncing, pair)
    return syncing.isDryRun ? undefined : continueSession({ ...syncing, address, ours, theirs: theirs! })
  }
  const why = ours?.isOpen ? OPEN : await act()
  return [why === undefined ? { what, session } : { what: `not-${what}`, session, why }]
}

const EMPTY = Buffer.alloc(0)
const [JOURNAL, NOTES_FILE, RESULTS] = ["journal.jsonl", "notes.md", "results/"]

/** Returns the reason for not sending as the end of a sentence. */
async function send({ files, withSecrets }: SessionSyncState, { folder, ours }: OnePair): Promise<string | undefined> {
  const sent = [[JOURNAL, ours!.lines] as const, ...(await ours!.files())]
  if (sent.some(([, { length }]) => length > MAX_FILE_BYTES)) return "it has a file larger than 95 MB"
  const kinds = new Set(withSecrets ? [] : sent.flatMap(([, bytes]) => findSecretKinds(bytes.toString("utf8"))))
  if (kinds.size > 0) return `something in it looks like a secret (${[...kinds].join(", ")}); --with-secrets sends it`
  for (const [name, bytes] of sent)
    files.set(`${folder}${name === NOTES ? NOTES_FILE : name.replace(BLOB, RESULTS)}`, bytes)
  return undefined
}

/** The kinds of secrets found. Code and tests often look like secrets, so the user decides. */
const findSecretKinds = (text: string): readonly string[] =>
  [text, unescaped(text)].flatMap((one) => findSecrets(one).map(({ kind }) => kind))

/** Undoes JSON escaping, even nested: in a journal line, the quotes around a password are escaped. */
const unescaped = (text: string): string => text.replace(/\\+([n"])/g, (_, letter) => (letter === "n" ? "\n" : '"'))

const SESSION_FILE = /^([\w-]+(?:\/agents\/[\w-]+)?)\/(journal\.jsonl|notes\.md|results\/[\w-]+(?:\.[\w-]+)?)$/

/** Reads the remote's sessions by path. Names that a store would refuse are skipped. */
async function listRemoteSessions({ branch, state }: SessionSyncState, project: string): Promise<Sessions> {
  const [start, found] = [folderOf(project), new Map<string, Map<string, BranchFile>>()]
  for (const [at, file] of state.files) {
    const [, path, name] = (at.startsWith(start) && SESSION_FILE.exec(at.slice(start.length))) || []
    if (path === undefined || name === undefined || file.bytes > MAX_FILE_BYTES) continue
    if (![...path.split("/agents/"), name.replace(RESULTS, "").replace(".", "")].every(isSafeId)) continue
    const own = found.get(path) ?? new Map<string, BranchFile>()
    found.set(path, own.set(name === NOTES_FILE ? NOTES : name.replace(RESULTS, BLOB), file))
  }
  const sessions = new Map<string, StoredSession>()
  for (const [path, own] of found) {
    const journal = own.get(JOURNAL)
    if (!journal) continue
    own.delete(JOURNAL)
    const bytes = (await branch.contents([journal])).get(journal.blob) ?? EMPTY
    const files = async () => {
      const contents = await branch.contents(own.values())
      return new Map([...own].map(([name, { blob }]) => [name, contents.get(blob) ?? EMPTY]))
    }
    sessions.set(path, { lines: bytes.subarray(0, bytes.lastIndexOf(10) + 1), names: [...own.keys()], files })
  }
  return sessions
}
