/** Everything that `strata usage` does, for the command and for the page: follow the files, replay in the background, answer questions. */
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
  /** The user's home directory. Default: `HOME`, else that of the system. */
  readonly home?: string
  /** More places to search. */
  readonly dirs?: readonly string[]
  /** Only those. */
  readonly onlyDirs?: boolean
  /** Starts a worker thread that calls `serveLook`. Default: everything runs in this thread. */
  readonly startWorker?: () => Worker
  /** Where the index is kept. Default: the user's Strata directory. */
  readonly root?: string
}

export interface Usage {
  /** Reads what is new or changed, and forgets what is gone. After `signal` it ends soon, and the next time reads the rest. */
  update(onProgress?: OnProgress, signal?: AbortSignal): Promise<IndexUpdateResult>
  /** Replays until everything is replayed or `signal` says stop. Answers how many were. */
  replay(options: ReplayRunOptions): Promise<number>
  report(filter?: UsageFilter): UsageReport
  /** The part of the report about Strata, without adding up the rest. */
  savings(filter?: UsageFilter): UsageSavings
  list(request?: ListRequest): UsageList
  /** The row with this key, if there still is one. */
  row(key: number): UsageRow | undefined
  findDeletedSessions(): Promise<DeletedSessions | undefined>
  /** Whether this is the first time that something is shown. It is remembered. */
  isFirst(name: string): boolean
  close(): Promise<void>
}

export interface ReplayRunOptions {
  readonly signal: AbortSignal
  /** One at a time and at low priority, because no one waits for it. */
  readonly isInBackground: boolean
  /** Only these. Default: all. */
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
  const background = workPool(startWorker, 1) // apart: a thread's priority cannot be raised again
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
  /** How many at a time. */
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
      if (fetched === "later") continue // the store does not answer
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
