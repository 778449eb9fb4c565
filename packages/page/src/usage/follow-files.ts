/** Brings the index up to date with the files: new and changed ones are read side by side, removed ones go. Others are not opened. */

import { resolve } from "node:path"
import { type Environment, type FoundTranscript, findTranscripts } from "@strata/transcripts"
import { type ConversationResponses, countedElsewhere } from "@strata/transcripts/inspect"
import { digestOf } from "./digest.ts"
import {
  FIGURES,
  figuresOf,
  type KnownFile,
  type LookIndex,
  type PlacedFile,
  type ReadFile,
  type Scope,
  whenFree,
} from "./look-index.ts"
import type { Recorded } from "./recorded.ts"
import type { FetchJournal } from "./stored-journals.ts"
import type { WorkPool } from "./work-pool.ts"

// Counts each response once. A fork's transcript repeats what its parent was answered, and an imported conversation is in two places. Those
// that share responses are compared with each other, and every row gets the figures of what is its own.

interface Member {
  readonly id: number
  readonly file: string
  readonly recorded: Recorded
}

const UPDATE = `UPDATE conversation SET ${FIGURES.map((name) => `${name} = ?`).join(", ")}, unsettled = 0 WHERE id = ?`

/** Settles every conversation that changed, or that shared responses with one that did. */
export function settleShared(index: LookIndex): void {
  const open = new Set(idsOf(index, "SELECT id FROM conversation WHERE unsettled = 1"))
  for (let [first] = open; first !== undefined; [first] = open) {
    const group = index.db.inTransaction(() => {
      const found = groupOf(index, first!)
      if (found.length > 0) settle(index, found)
      return found
    })
    for (const id of [first!, ...group.map((member) => member.id)]) open.delete(id)
  }
}

function settle(index: LookIndex, group: readonly Member[]): void {
  if (group.length === 1) {
    const [{ id }] = group as [Member]
    // it was alone before, or its sharers are gone
    const row = index.db.statement("SELECT repeated FROM conversation WHERE id = ?").get(id)
    if (Number(row?.repeated ?? 0) === 0) {
      index.db.statement("UPDATE conversation SET unsettled = 0 WHERE id = ?").run(id)
      return
    }
  }
  const compared: readonly ConversationResponses[] = group.map(({ file, recorded }) => ({
    file,
    responses: recorded.responses.map(({ key, agent: _, lost: __, ...response }) => ({ id: key, ...response })),
  }))
  for (const [at, elsewhere] of countedElsewhere(compared).entries()) {
    const { id, recorded } = group[at]!
    const keys = new Set(elsewhere.flatMap(({ responses }) => responses.map((response) => response.id)))
    const figures = figuresOf(digestOf(recorded, keys), recorded)
    index.db.statement(UPDATE).run(...FIGURES.map((name) => figures[name]), id)
  }
}

/** A conversation and all that share responses with it, directly or through others. */
function groupOf(index: LookIndex, first: number): readonly Member[] {
  const members = new Map<number, Member>()
  const waiting = [first]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (members.has(id)) continue
    const recorded = index.recorded(id)
    const row = index.db
      .statement(
        "SELECT file.path FROM conversation JOIN file ON file.id = conversation.file WHERE conversation.id = ?",
      )
      .get(id)
    if (!recorded || !row) continue
    members.set(id, { id, file: String(row.path), recorded })
    const others = index.db.statement("SELECT conversation FROM seen WHERE key = ? AND conversation <> ?")
    for (const { key } of recorded.responses)
      for (const { conversation } of others.all(Number.parseInt(key, 16), id))
        if (!members.has(Number(conversation))) waiting.push(Number(conversation))
  }
  return [...members.values()].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.id - b.id))
}

const idsOf = (index: LookIndex, sql: string): readonly number[] =>
  index.db
    .statement(sql)
    .all()
    .map(({ id }) => Number(id))

const MANY = 200 // files
const STORED_TOGETHER = 24 // files: one transaction for each would take longer, more would keep another process waiting

export interface Following {
  readonly env: Environment
  readonly home: string
  readonly scope: Scope
  readonly pool: WorkPool
  readonly fetchJournal: FetchJournal
  readonly onProgress?: OnProgress | undefined
  readonly signal?: AbortSignal | undefined
}

export type OnProgress = (at: { readonly done: number; readonly of: number }) => void

export interface Followed {
  readonly found: number
  /** New and changed ones. */
  readonly read: number
  readonly removed: number
}

/** The directories of a scope as absolute paths. */
export const scopeOf = ({
  dirs,
  onlyDirs = false,
}: {
  readonly dirs: readonly string[]
  readonly onlyDirs?: boolean
}): Scope => ({
  home: !onlyDirs,
  dirs: dirs.map((dir) => resolve(dir)),
})

export async function followFiles(index: LookIndex, following: Following): Promise<Followed> {
  const { env, home, scope } = following
  const found = await findTranscripts({ env, home, dirs: scope.dirs, onlyDirs: !scope.home })
  try {
    return await bringUpToDate(index, found, following)
  } catch (error) {
    if (!index.mend(error)) throw error
    return bringUpToDate(index, found, following)
  }
}

async function bringUpToDate(
  index: LookIndex,
  found: readonly FoundTranscript[],
  { scope, ...reading }: Following,
): Promise<Followed> {
  const known = index.files(scope)
  const files = found.map((file): PlacedFile => ({ ...file, place: file.program === "other" ? "dir" : "home" }))
  const paths = new Set(files.map(({ path }) => path))
  // a directory is not searched for what only the program's own place shows, such as sessions in a database
  const isGone = ([path, { place }]: [string, KnownFile]) => !paths.has(path) && (scope.home || place === "dir")
  const gone = [...known].filter(isGone).map(([, { id }]) => id)
  if (gone.length > 0) await whenFree(() => index.remove(gone))
  const changed = files.filter((file) => {
    const one = known.get(file.path)
    return one?.size !== file.size || one.modified !== file.modifiedMs || one.inode !== file.inode
  })
  const placed = files.flatMap(({ path, place }) => {
    const one = known.get(path)
    return place === "home" && one?.place === "dir" ? [one.id] : []
  })
  if (placed.length > 0) await whenFree(() => index.moveHome(placed))
  const readChanged = () => readAll(index, changed, reading)
  const read = await (changed.length > MANY ? index.inBulk(readChanged) : readChanged())
  await whenFree(() => settleShared(index))
  return { found: files.length, read, removed: gone.length }
}

/** Resolves to nothing once `signal` says stop: to be raced with work that takes long. */
export const whenStopped = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener("abort", () => resolve(undefined), { once: true })
  })

type Reading = Pick<Following, "pool" | "fetchJournal" | "onProgress" | "signal">

/** Answers how many were read: fewer than all where it was stopped. */
async function readAll(index: LookIndex, files: readonly PlacedFile[], reading: Reading): Promise<number> {
  const { pool, fetchJournal, onProgress, signal = new AbortController().signal } = reading
  const stopped = whenStopped(signal)
  let done = 0
  let ready: { readonly file: PlacedFile; readonly read: ReadFile }[] = []
  const store = async () => {
    const batch = ready
    ready = []
    if (batch.length > 0) await whenFree(() => index.store(batch))
  }
  let failed: { readonly error: unknown } | undefined
  const readOne = async ({ path, size }: PlacedFile): Promise<ReadFile | undefined> => {
    try {
      return await pool.run({ kind: "read", path, size, ...(await fetchJournal(path)) })
    } catch (error) {
      failed ??= { error } // the store does not answer: the rest is read the next time
      return undefined
    }
  }
  onProgress?.({ done, of: files.length })
  // a few more than there are workers: none waits for the index, and what was read does not pile up
  const queue = files.values()
  const reader = async () => {
    for (const file of queue) {
      if (signal.aborted || failed) return
      const read = await Promise.race([readOne(file), stopped])
      if (read === undefined) return
      ready.push({ file, read })
      if (ready.length >= STORED_TOGETHER) await store()
      done++
      onProgress?.({ done, of: files.length })
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  await store()
  if (failed) throw failed.error
  return done
}

const READERS = 8
