/**
 * Syncs sessions with a branch of their own: journals byte for byte, with their sub-agents, notes and stored results. The longer of two that
 * begin alike wins. If both went on, both are kept. Nothing is removed on either side.
 */
import { isSafeId, StrataError } from "@strata/core"
import { findSecrets } from "@strata/core/internal/base/secrets/find-secrets"
import type { Branch, BranchFile, BranchState } from "./git-branch.ts"
import { BLOB_NAME, continueSession, type KeptSession, readSession, type SessionPlace } from "./kept-session.ts"
import { compared, pairsOf } from "./session-pairs.ts"

export const SESSIONS_BRANCH = "strata/sessions"
const MOST_ATTEMPTS = 20 // each failure means that another machine succeeded
const MOST_FILE_BYTES = 95 * 1024 * 1024 // hosts of repositories refuse files of 100 MB

export type SessionStep =
  | { readonly what: "sent" | "received"; readonly session: string }
  /** It went on here and elsewhere. `as`: the other one, on this machine. */
  | { readonly what: "kept-both"; readonly session: string; readonly as: string }
  /** The end of a sentence. */
  | { readonly what: "not-sent" | "not-received"; readonly session: string; readonly why: string }

export interface SessionSync extends SessionPlace {
  readonly branch: Branch
  readonly places: (there: ReadonlySet<string>) => Promise<readonly string[]>
  readonly isDryRun: boolean
}

export interface SessionReport {
  readonly project: string
  readonly steps: readonly SessionStep[]
}

export async function syncSessions(sync: SessionSync): Promise<readonly SessionReport[]> {
  const received = new Map<string, SessionStep[]>()
  for (let attempt = 1; ; attempt++) {
    const state = await sync.branch.read()
    const files = new Map<string, Buffer | BranchFile>(state.files)
    const reports: SessionReport[] = []
    for (const place of await sync.places(placesIn(state))) {
      const steps = await syncPlace(place, { ...sync, state, files })
      const before = received.get(place) ?? []
      received.set(place, [...before, ...steps.filter(({ what }) => what === "received" || what === "kept-both")])
      reports.push({ project: place, steps: [...before, ...steps] })
    }
    if (sync.isDryRun || (await sync.branch.replace(files, state)) !== "overtaken") return reports
    if (attempt >= MOST_ATTEMPTS)
      throw new StrataError(
        `Other machines changed the remote ${MOST_ATTEMPTS} times in a row. What came from there is kept here, and no session was sent. Run the command again.`,
        { code: "sync-overtaken" },
      )
  }
}

function placesIn({ files }: BranchState): ReadonlySet<string> {
  const places = [...files.keys()].map((path) => /^projects\/([A-Za-z0-9-]{1,200})\//.exec(path)?.[1])
  return new Set(places.filter((place) => place !== undefined))
}

interface Syncing extends SessionSync {
  readonly state: BranchState
  /** What the branch is to have. */
  readonly files: Map<string, Buffer | BranchFile>
}

/** A conversation, or one of its sub-agents. */
interface Name {
  readonly id: string
  readonly under?: string
}

const folderOf = (place: string, { id, under }: Name): string =>
  `projects/${place}/${under === undefined ? id : `${under}/agents/${id}`}/`

async function syncPlace(place: string, syncing: Syncing): Promise<readonly SessionStep[]> {
  const { store } = syncing
  const [here, there] = [new Map<string, KeptSession>(), new Map<string, KeptSession>()]
  const [steps, closed] = [[] as SessionStep[], new Set<string>()]
  for (const { id } of await store.list(place, { isBare: true })) {
    const session = await readSession(syncing, { project: place, id }).catch(unreadable)
    if (session instanceof StrataError) {
      closed.add(id)
      steps.push({ what: "not-sent", session: id, why: `it cannot be opened (${session.message})` })
    } else if (session) here.set(id, session)
  }
  for (const id of idsUnder(syncing.state, `projects/${place}/`))
    there.set(id, await sessionIn(syncing, folderOf(place, { id })))
  for (const pair of pairsOf({ here: linesBy(here), there: linesBy(there) })) {
    if (closed.has(pair.here)) continue
    const isBranch = pair.here !== pair.there && !here.has(pair.here)
    const [ours, theirs] = [here.get(pair.here), there.get(pair.there)]
    const names = { project: place, here: { id: pair.here }, there: { id: pair.there } }
    const own = await syncOne(syncing, { ...names, ours, theirs })
    steps.push(
      ...own.map((step) =>
        step.what === "received" && isBranch
          ? { what: "kept-both" as const, session: pair.there, as: pair.here }
          : step,
      ),
    )
    if (own.some(({ what }) => what === "not-sent" || what === "not-received")) continue // its agents stay with it
    steps.push(...(await syncAgents(syncing, { place, ...pair })))
  }
  return steps
}

async function syncAgents(
  syncing: Syncing,
  pair: { place: string; here: string; there: string },
): Promise<readonly SessionStep[]> {
  const { place, here, there } = pair
  const listed = await syncing.store.list(place, { under: here, isBare: true })
  const ids = [
    ...new Set([...listed.map(({ id }) => id), ...idsUnder(syncing.state, `projects/${place}/${there}/agents/`)]),
  ].sort()
  const steps: SessionStep[] = []
  for (const id of ids) {
    const ours = await readSession(syncing, { project: place, id, under: here })
    const folder = folderOf(place, { id, under: there })
    const theirs = syncing.state.files.has(`${folder}${JOURNAL}`) ? await sessionIn(syncing, folder) : undefined
    const names = { project: place, here: { id, under: here }, there: { id, under: there } }
    const own = await syncOne(syncing, { ...names, ours, theirs })
    steps.push(...own.filter((step) => "why" in step)) // the rest is part of its conversation
  }
  return steps
}

function unreadable(error: unknown): StrataError {
  if (error instanceof StrataError) return error
  throw error
}

interface OnePair {
  readonly project: string
  readonly here: Name
  readonly there: Name
  readonly ours: KeptSession | undefined
  readonly theirs: KeptSession | undefined
}

async function syncOne(syncing: Syncing, pair: OnePair): Promise<readonly SessionStep[]> {
  const { ours, theirs, project } = pair
  const session = pair.here.id
  const outcome = compared(ours?.lines ?? EMPTY, theirs?.lines ?? EMPTY)
  switch (outcome.state) {
    case "same":
      return []
    case "parted": // only a sub-agent's: its conversation is the same on both sides
      return [{ what: "not-received", session, why: "it went on here and elsewhere" }]
    case "ours-longer": {
      const why = reasonToStay(ours!)
      if (why !== undefined) return [{ what: "not-sent", session, why }]
      for (const [path, bytes] of filesOf(ours!)) syncing.files.set(`${folderOf(project, pair.there)}${path}`, bytes)
      return [{ what: "sent", session }]
    }
    case "theirs-longer": {
      if (syncing.isDryRun) return [{ what: "received", session }]
      const address = { project, ...pair.here }
      const done = await continueSession({ ...syncing, address, before: ours?.lines ?? EMPTY, session: theirs! })
      return done.state === "continued"
        ? [{ what: "received", session }]
        : [{ what: "not-received", session, why: done.why }]
    }
  }
}

const EMPTY = Buffer.alloc(0)
const [JOURNAL, NOTES, BLOBS] = ["journal.jsonl", "notes.md", "results/"]

function reasonToStay(session: KeptSession): string | undefined {
  const files = [...filesOf(session).values()]
  if (files.some(({ length }) => length > MOST_FILE_BYTES)) return "it has a file of more than 95 MB"
  const kinds = files.flatMap((bytes) => {
    const text = bytes.toString("utf8")
    return [text, unescaped(text)].flatMap((one) => findSecrets(one).map(({ kind }) => kind))
  })
  return kinds.length === 0 ? undefined : `it has secrets in it (${[...new Set(kinds)].join(", ")})`
}

/** As it was before it became JSON, maybe within JSON: in a line, a quoted password has its quotes escaped. */
const unescaped = (text: string): string => text.replace(/\\+([n"])/g, (_, letter) => (letter === "n" ? "\n" : '"'))

function filesOf({ lines, notes, blobs }: KeptSession): ReadonlyMap<string, Buffer> {
  return new Map([
    [JOURNAL, lines],
    ...(notes === undefined ? [] : [[NOTES, Buffer.from(notes)] as const]),
    ...[...blobs].map(([name, bytes]) => [`${BLOBS}${name}`, bytes] as const),
  ])
}

async function sessionIn({ branch, state }: Syncing, folder: string): Promise<KeptSession> {
  const own = [...state.files].flatMap(([path, file]) => {
    const name = path.startsWith(folder) ? path.slice(folder.length) : ""
    const isOurs =
      name === JOURNAL || name === NOTES || (name.startsWith(BLOBS) && BLOB_NAME.test(name.slice(BLOBS.length)))
    return isOurs && file.bytes <= MOST_FILE_BYTES ? [[name, file] as const] : []
  })
  const contents = await branch.contents(own.map(([, file]) => file))
  const found = new Map(own.map(([name, { blob }]) => [name, contents.get(blob) ?? EMPTY]))
  const blobs = [...found]
    .filter(([name]) => name.startsWith(BLOBS))
    .map(([name, bytes]) => [name.slice(BLOBS.length), bytes] as const)
  const notes = found.get(NOTES)?.toString("utf8")
  return { lines: found.get(JOURNAL) ?? EMPTY, blobs: new Map(blobs), ...(notes === undefined ? {} : { notes }) }
}

/** Only names that a store takes. */
function idsUnder({ files }: BranchState, folder: string): readonly string[] {
  const ids = [...files.keys()].flatMap((path) => {
    const [id, file, more] = path.startsWith(folder) ? path.slice(folder.length).split("/") : []
    return id !== undefined && file === JOURNAL && more === undefined && isSafeId(id) ? [id] : []
  })
  return [...new Set(ids)].sort()
}

const linesBy = (sessions: ReadonlyMap<string, KeptSession>): ReadonlyMap<string, Buffer> =>
  new Map([...sessions].map(([id, { lines }]) => [id, lines]))
