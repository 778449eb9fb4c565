/** Brings the index up to date with the files: new and changed ones are read side by side, removed ones go. Others are not opened. */
import { resolve } from "node:path"
import { type Environment, type FoundTranscript, findTranscripts } from "@strata/transcripts"
import { type KnownFile, type LookIndex, type PlacedFile, type ReadFile, type Scope, whenFree } from "./look-index.ts"
import { settleShared } from "./shared-responses.ts"
import type { FetchJournal } from "./stored-journals.ts"
import type { WorkPool } from "./work-pool.ts"

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
