/** Everything that `strata usage` does, for the command and for the page: follow the files, replay in the background, answer questions. */
import { availableParallelism } from "node:os"
import { join } from "node:path"
import type { Worker } from "node:worker_threads"
import { strataDirectory } from "@strata/core"
import type { Environment } from "@strata/transcripts"
import { homeIn } from "@strata/transcripts/import"
import { type Followed, followFiles, type OnProgress, scopeOf, whenStopped } from "./follow-files.ts"
import { type GoneSessions, goneSessions } from "./gone-sessions.ts"
import { lookList, lookRow } from "./list.ts"
import { indexPath, type Looked, LookIndex, whenFree } from "./look-index.ts"
import { lookReport } from "./report.ts"
import type { ListRequest, LookFilter, LookList, LookReport, LookRow, LookSavings } from "./report-data.ts"
import { nextReplays, savingsIn, storeReplay } from "./savings.ts"
import { type FetchJournal, fetchingFrom } from "./stored-journals.ts"
import { type WorkPool, workPool } from "./work-pool.ts"

export interface LookOptions {
  readonly env: Environment
  /** The person's home directory. Default: `HOME`, else that of the system. */
  readonly home?: string
  /** More places to search. */
  readonly dirs?: readonly string[]
  /** Only those. */
  readonly onlyDirs?: boolean
  /** Starts a worker thread that calls `serveLook`. Default: everything runs in this thread. */
  readonly startWorker?: () => Worker
  /** Where the index is kept. Default: the person's Strata directory. */
  readonly root?: string
}

export interface Look {
  /** Reads what is new or changed, and forgets what is gone. After `signal` it ends soon, and the next time reads the rest. */
  follow(onProgress?: OnProgress, signal?: AbortSignal): Promise<Followed>
  /** Replays until everything is replayed or `signal` says stop. Answers how many were. */
  replay(options: ReplayOrder): Promise<number>
  report(filter?: LookFilter): LookReport
  /** The part of the report about Strata, without adding up the rest. */
  savings(filter?: LookFilter): LookSavings
  list(request?: ListRequest): LookList
  /** The row with this key, if there still is one. */
  row(key: number): LookRow | undefined
  gone(): Promise<GoneSessions | undefined>
  /** Whether this is the first time that something is shown. It is remembered. */
  isFirst(name: string): boolean
  close(): Promise<void>
}

export interface ReplayOrder {
  readonly signal: AbortSignal
  /** One at a time and at low priority, because no one waits for it. */
  readonly isInBackground: boolean
  /** Only these. Default: all. */
  readonly filter?: LookFilter
  readonly onReplayed?: () => void
}

const MAX_WORKERS = 4

export function openLook(options: LookOptions): Look {
  const { env, home = homeIn(env), dirs = [], onlyDirs = false, startWorker } = options
  const index = new LookIndex(
    indexPath(options.root ?? (env.STRATA_HOME ? strataDirectory(env) : join(home, ".strata")), env.STRATA_STORE),
  )
  const scope = scopeOf({ dirs, onlyDirs })
  const looked = { index, scope }
  const size = Math.min(MAX_WORKERS, availableParallelism())
  const fetchJournal = fetchingFrom(env)
  const pool = workPool(startWorker, size)
  const background = workPool(startWorker, 1) // apart: a thread's priority cannot be raised again
  return {
    follow: (onProgress, signal) => followFiles(index, { env, home, scope, pool, fetchJournal, onProgress, signal }),
    replay: (order) =>
      order.isInBackground
        ? replayAll({ looked, pool: background, fetchJournal, lanes: 1, order })
        : replayAll({ looked, pool, fetchJournal, lanes: startWorker ? size : 1, order }),
    report: (filter = {}) => lookReport(looked, filter),
    savings: (filter = {}) => savingsIn(looked, filter),
    list: (request = {}) => lookList(looked, request),
    row: (key) => lookRow(looked, key),
    gone: () => goneSessions({ env, home }, index.homePaths()),
    isFirst(name) {
      if (index.noted(name) !== undefined) return false
      index.note(name, "shown")
      return true
    },
    async close() {
      await Promise.all([pool.close(), background.close()])
      index.close()
    },
  }
}

interface Replaying {
  readonly looked: Looked
  readonly pool: WorkPool
  readonly fetchJournal: FetchJournal
  /** How many at a time. */
  readonly lanes: number
  readonly order: ReplayOrder
}

async function replayAll({ looked, pool, fetchJournal, lanes, order }: Replaying): Promise<number> {
  const { signal, isInBackground, filter = {}, onReplayed } = order
  const stopped = whenStopped(signal)
  const begun = new Set<number>()
  let count = 0
  const lane = async () => {
    for (;;) {
      const next = signal.aborted
        ? undefined
        : nextReplays(looked, { filter, max: lanes + begun.size }).find(({ key }) => !begun.has(key))
      if (!next) return
      const { key, path, name } = next
      begun.add(key)
      const fetched = await Promise.race([fetchJournal(path).catch(() => "later" as const), stopped])
      if (fetched === "later") continue // the store does not answer
      if (fetched === undefined) return
      const result = await Promise.race([pool.run({ kind: "replay", path, name, ...fetched, isInBackground }), stopped])
      if (result === undefined) return
      await whenFree(() => storeReplay(looked.index, key, result))
      count++
      onReplayed?.()
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return count
}
