/**
 * Updates the index from the files: new and changed ones are read in parallel, deleted ones are removed. Unchanged files are not opened.
 */

import { resolve } from "node:path"
import { type Environment, type FoundTranscript, findTranscripts } from "@strata/transcripts"
import { type ConversationResponses, countedElsewhere } from "@strata/transcripts/inspect"
import { createDigest } from "./digest.ts"
import type { RecordedUsage } from "./recorded-usage.ts"
import type { FetchJournal } from "./stored-journals.ts"
import {
  conversationMetrics,
  type IndexScope,
  type KnownFile,
  type LocatedFile,
  METRICS,
  type ReadFile,
  retryWhileBusy,
  type UsageIndex,
} from "./usage-index.ts"
import type { WorkPool } from "./work-pool.ts"

// Counts each response once. A fork's transcript repeats the responses of its parent, and an imported conversation exists twice. Conversations that share responses are compared, and each row gets only the cost of its own responses.
// that share responses are compared with each other, and every row gets the figures of what is its own.

interface GroupMember {
  readonly id: number
  readonly file: string
  readonly recorded: RecordedUsage
}

const UPDATE_METRICS = `UPDATE conversation SET ${METRICS.map((name) => `${name} = ?`).join(", ")}, unsettled = 0 WHERE id = ?`

/** Recounts all conversations that changed or shared responses with a changed one. */
export function recountShared(index: UsageIndex): void {
  const open = new Set(selectIds(index, "SELECT id FROM conversation WHERE unsettled = 1"))
  for (let [first] = open; first !== undefined; [first] = open) {
    const group = index.db.inTransaction(() => {
      const found = findSharingGroup(index, first!)
      if (found.length > 0) recount(index, found)
      return found
    })
    for (const id of [first!, ...group.map((member) => member.id)]) open.delete(id)
  }
}

function recount(index: UsageIndex, group: readonly GroupMember[]): void {
  if (group.length === 1) {
    const [{ id }] = group as [GroupMember]
    // nothing was shared before, or the other conversations were deleted
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
    const figures = conversationMetrics(createDigest(recorded, keys), recorded)
    index.db.statement(UPDATE_METRICS).run(...METRICS.map((name) => figures[name]), id)
  }
}

/** A conversation and all others that share responses with it, directly or indirectly. */
function findSharingGroup(index: UsageIndex, first: number): readonly GroupMember[] {
  const members = new Map<number, GroupMember>()
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

const selectIds = (index: UsageIndex, sql: string): readonly number[] =>
  index.db
    .statement(sql)
    .all()
    .map(({ id }) => Number(id))

const BULK_FILES = 200 // files
const FILES_PER_TRANSACTION = 24 // files per transaction; one each would be slower, and more would block other processes

export interface IndexUpdateOptions {
  readonly env: Environment
  readonly home: string
  readonly scope: IndexScope
  readonly pool: WorkPool
  readonly fetchJournal: FetchJournal
  readonly onProgress?: OnProgress | undefined
  readonly signal?: AbortSignal | undefined
}

export type OnProgress = (at: { readonly done: number; readonly of: number }) => void

export interface IndexUpdateResult {
  readonly found: number
  /** Number of new and changed files. */
  readonly read: number
  readonly removed: number
}

/** The directories of a scope as absolute paths. */
export const resolveScope = ({
  dirs,
  onlyDirs = false,
}: {
  readonly dirs: readonly string[]
  readonly onlyDirs?: boolean
}): IndexScope => ({
  home: !onlyDirs,
  dirs: dirs.map((dir) => resolve(dir)),
})

export async function updateIndex(index: UsageIndex, following: IndexUpdateOptions): Promise<IndexUpdateResult> {
  const { env, home, scope } = following
  const found = await findTranscripts({ env, home, dirs: scope.dirs, onlyDirs: !scope.home })
  try {
    return await bringUpToDate(index, found, following)
  } catch (error) {
    if (!index.rebuildIfDamaged(error)) throw error
    return bringUpToDate(index, found, following)
  }
}

async function bringUpToDate(
  index: UsageIndex,
  found: readonly FoundTranscript[],
  { scope, ...reading }: IndexUpdateOptions,
): Promise<IndexUpdateResult> {
  const known = index.files(scope)
  const files = found.map((file): LocatedFile => ({ ...file, place: file.program === "other" ? "dir" : "home" }))
  const paths = new Set(files.map(({ path }) => path))
  // a directory scan does not find everything, such as sessions in a database
  const isDeleted = ([path, { place }]: [string, KnownFile]) => !paths.has(path) && (scope.home || place === "dir")
  const deleted = [...known].filter(isDeleted).map(([, { id }]) => id)
  if (deleted.length > 0) await retryWhileBusy(() => index.remove(deleted))
  const changed = files.filter((file) => {
    const one = known.get(file.path)
    return one?.size !== file.size || one.modified !== file.modifiedMs || one.inode !== file.inode
  })
  const placed = files.flatMap(({ path, place }) => {
    const one = known.get(path)
    return place === "home" && one?.place === "dir" ? [one.id] : []
  })
  if (placed.length > 0) await retryWhileBusy(() => index.moveHome(placed))
  const readChanged = () => readAll(index, changed, reading)
  const read = await (changed.length > BULK_FILES ? index.inBulk(readChanged) : readChanged())
  await retryWhileBusy(() => recountShared(index))
  return { found: files.length, read, removed: deleted.length }
}

/** Resolves when `signal` is aborted, for racing with long work. */
export const whenStopped = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener("abort", () => resolve(undefined), { once: true })
  })

type ReadOptions = Pick<IndexUpdateOptions, "pool" | "fetchJournal" | "onProgress" | "signal">

/** Resolves with the number of files read, which is smaller if it was stopped. */
async function readAll(index: UsageIndex, files: readonly LocatedFile[], reading: ReadOptions): Promise<number> {
  const { pool, fetchJournal, onProgress, signal = new AbortController().signal } = reading
  const stopped = whenStopped(signal)
  let done = 0
  let ready: { readonly file: LocatedFile; readonly read: ReadFile }[] = []
  const store = async () => {
    const batch = ready
    ready = []
    if (batch.length > 0) await retryWhileBusy(() => index.store(batch))
  }
  let failed: { readonly error: unknown } | undefined
  const readOne = async ({ path, size }: LocatedFile): Promise<ReadFile | undefined> => {
    try {
      return await pool.run({ kind: "read", path, size, ...(await fetchJournal(path)) })
    } catch (error) {
      failed ??= { error } // the store is unavailable; the rest is read next time
      return undefined
    }
  }
  onProgress?.({ done, of: files.length })
  // slightly more than there are workers: no worker idles, and results do not pile up
  const queue = files.values()
  const reader = async () => {
    for (const file of queue) {
      if (signal.aborted || failed) return
      const read = await Promise.race([readOne(file), stopped])
      if (read === undefined) return
      ready.push({ file, read })
      if (ready.length >= FILES_PER_TRANSACTION) await store()
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
