/** All functions of `strata usage`, for the command and the page: updating the index, replaying in the background, and queries. */
import { availableParallelism } from "node:os"
import { join } from "node:path"
import type { Worker } from "node:worker_threads"
import { strataDirectory } from "@strata/core"
import type { Environment } from "@strata/transcripts"
import { homeIn } from "@strata/transcripts/import"
import { type DeletedSessions, findDeletedSessions } from "./deleted-sessions.ts"
import { findUsageRow, listUsage } from "./list.ts"
import { createUsageReport } from "./report.ts"
import type { ListRequest, UsageFilter, UsageList, UsageReport, UsageRow, UsageSavings } from "./report-data.ts"
import { computeSavings, nextReplays, storeReplay } from "./savings.ts"
import { type FetchJournal, journalFetcher } from "./stored-journals.ts"
import { type IndexUpdateResult, type OnProgress, resolveScope, updateIndex, whenStopped } from "./update-index.ts"
import { indexPath, retryWhileBusy, type ScopedIndex, UsageIndex } from "./usage-index.ts"
import { type WorkPool, workPool } from "./work-pool.ts"

export interface UsageOptions {
  readonly env: Environment
  /** Home directory. Default: `HOME`, else that of the system. */
  readonly home?: string
  /** Additional directories to search. */
  readonly dirs?: readonly string[]
  /** Whether to search only `dirs`. */
  readonly onlyDirs?: boolean
  /** Starts a worker thread that calls `serveUsageWorker`. Default: everything runs in this thread. */
  readonly startWorker?: () => Worker
  /** Directory of the index. Default: the user's Strata directory. */
  readonly root?: string
}

export interface Usage {
  /** Reads new and changed files and removes deleted ones. After an abort it ends soon, and the next call reads the rest. */
  update(onProgress?: OnProgress, signal?: AbortSignal): Promise<IndexUpdateResult>
  /** Replays conversations until all are replayed or the signal is aborted. Resolves with their number. */
  replay(options: ReplayRunOptions): Promise<number>
  report(filter?: UsageFilter): UsageReport
  /** The savings part of the report only. */
  savings(filter?: UsageFilter): UsageSavings
  list(request?: ListRequest): UsageList
  /** The row with this key, if it still exists. */
  row(key: number): UsageRow | undefined
  findDeletedSessions(): Promise<DeletedSessions | undefined>
  /** Whether a hint is shown for the first time. The answer is recorded. */
  isFirst(name: string): boolean
  close(): Promise<void>
}

export interface ReplayRunOptions {
  readonly signal: AbortSignal
  /** Runs one replay at a time and at low priority. */
  readonly isInBackground: boolean
  /** Conversations to replay. Default: all. */
  readonly filter?: UsageFilter
  readonly onReplayed?: () => void
}

const MAX_WORKERS = 4

export function openUsage(options: UsageOptions): Usage {
  const { env, home = homeIn(env), dirs = [], onlyDirs = false, startWorker } = options
  const index = new UsageIndex(
    indexPath(options.root ?? (env.STRATA_HOME ? strataDirectory(env) : join(home, ".strata")), env.STRATA_STORE),
  )
  const scope = resolveScope({ dirs, onlyDirs })
  const looked = { index, scope }
  const size = Math.min(MAX_WORKERS, availableParallelism())
  const fetchJournal = journalFetcher(env)
  const pool = workPool(startWorker, size)
  const background = workPool(startWorker, 1) // a separate pool, because a thread's priority cannot be raised again
  return {
    update: (onProgress, signal) => updateIndex(index, { env, home, scope, pool, fetchJournal, onProgress, signal }),
    replay: (order) =>
      order.isInBackground
        ? replayAll({ looked, pool: background, fetchJournal, lanes: 1, order })
        : replayAll({ looked, pool, fetchJournal, lanes: startWorker ? size : 1, order }),
    report: (filter = {}) => createUsageReport(looked, filter),
    savings: (filter = {}) => computeSavings(looked, filter),
    list: (request = {}) => listUsage(looked, request),
    row: (key) => findUsageRow(looked, key),
    findDeletedSessions: () => findDeletedSessions({ env, home }, index.homePaths()),
    isFirst(name) {
      if (index.readNote(name) !== undefined) return false
      index.writeNote(name, "shown")
      return true
    },
    async close() {
      await Promise.all([pool.close(), background.close()])
      index.close()
    },
  }
}

interface ReplayRun {
  readonly looked: ScopedIndex
  readonly pool: WorkPool
  readonly fetchJournal: FetchJournal
  /** Number of parallel replays. */
  readonly lanes: number
  readonly order: ReplayRunOptions
}

async function replayAll({ looked, pool, fetchJournal, lanes, order }: ReplayRun): Promise<number> {
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
      if (fetched === "later") continue // the store is unavailable
      if (fetched === undefined) return
      const result = await Promise.race([pool.run({ kind: "replay", path, name, ...fetched, isInBackground }), stopped])
      if (result === undefined) return
      await retryWhileBusy(() => storeReplay(looked.index, key, result))
      count++
      onReplayed?.()
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return count
}
