/**
 * Titles, sizes and costs of stored conversations, from the index that `strata usage` uses. A journal is read once after each change, in
 * the background and the newest first, so that a list of many conversations never waits for their journals.
 */
import { statSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { basename, dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { Worker } from "node:worker_threads"
import { type Store, strataDirectory } from "@strata/core"
import { inputTokens, isLocalNamespace } from "@strata/core/base"
import { journalDirectoryIn, parseStoreUri, storeUri } from "@strata/core/store"
import type { Environment } from "@strata/transcripts"
import type { Digest } from "../usage/digest.ts"
import type { UsageRow } from "../usage/report-data.ts"
import { type FetchJournal, journalFetcher } from "../usage/stored-journals.ts"
import { recountShared, whenStopped } from "../usage/update-index.ts"
import { indexPath, type LocatedFile, type ReadFile, retryWhileBusy, UsageIndex } from "../usage/usage-index.ts"
import { type WorkPool, workPool } from "../usage/work-pool.ts"
import type { ConversationUsage } from "./source.ts"

/** A journal of a store. */
export interface FoundJournal {
  readonly id: string
  readonly namespace: string
  readonly file: LocatedFile
}

/** A conversation in the index. */
export interface IndexedConversation {
  readonly id: string
  readonly namespace: string
  /** Absent until the journal has been read. */
  readonly title?: string
  readonly model?: string
  /** Working directory of the conversation. */
  readonly directory?: string
  /** Time of the last message, else of the last write. */
  readonly touched: string
  readonly usage?: ConversationUsage
}

export interface ConversationIndexOptions {
  readonly env: Environment
  readonly store: Store
  /** The namespaces to list, newest data included. */
  readonly namespaces: () => Promise<readonly string[]>
  /** Starts a worker thread that calls `serveUsageWorker`. Default: journals are read in this thread. */
  readonly startWorker?: () => Worker
}

const MAX_WORKERS = 2
const FIRST_WAIT_MS = 1_500 // so that the newest of many conversations have a title on the first page
const FEW_JOURNALS = 20 // these are read before the first page is shown
const FEW_WAIT_MS = 10_000
const REREAD_MS = 30_000 // minimum interval for reading a journal that grows
const POLL_MS = 10_000 // while a page is open
const BULK_JOURNALS = 200
const BATCH = 16 // journals per transaction

export class ConversationIndex {
  readonly #options: ConversationIndexOptions
  readonly #index: UsageIndex
  readonly #pool: WorkPool
  readonly #fetchJournal: FetchJournal
  readonly #listeners = new Set<() => void>()
  readonly #end = new AbortController()
  /** Time of the last reading, by path. */
  readonly #readAt = new Map<string, number>()
  #update: Promise<void> | undefined
  #remaining = 0
  #poll: NodeJS.Timeout | undefined

  constructor(options: ConversationIndexOptions) {
    const { env, startWorker } = options
    this.#options = options
    this.#index = new UsageIndex(indexPath(strataDirectory(env), env.STRATA_STORE))
    this.#pool = workPool(startWorker, Math.min(MAX_WORKERS, availableParallelism()))
    this.#fetchJournal = journalFetcher(env)
  }

  /** Number of journals that are still to be read. */
  get remaining(): number {
    return this.#remaining
  }

  /** Called when more journals have been read. While there are listeners, changed journals are looked for. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#poll ??= setInterval(() => void this.conversations().catch(() => undefined), POLL_MS).unref()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      clearInterval(this.#poll)
      this.#poll = undefined
    }
  }

  /** All conversations with a message, newest first. Starts reading those that changed. */
  async conversations(): Promise<readonly IndexedConversation[]> {
    const namespaces = await this.#options.namespaces()
    const found = await this.#find(namespaces)
    const known = this.#rows()
    await this.#removeDeleted(known, { namespaces, found })
    const changed = found.filter(({ file }) => !isSame(known.get(file.path), file) && this.#isDue(file.path))
    if (changed.length > 0 && !this.#update) {
      const read = () => this.#read(changed)
      this.#update = changed.length > BULK_JOURNALS ? this.#index.inBulk(read) : read()
      this.#update.catch(() => undefined) // the store is unavailable; the next call tries again
      const isNew = changed.some(({ file }) => !known.has(file.path))
      const waitMs = changed.length <= FEW_JOURNALS ? FEW_WAIT_MS : FIRST_WAIT_MS
      if (isNew) await Promise.race([this.#update, pause(waitMs, undefined, { ref: false })])
    }
    const rows = this.#rows()
    return found
      .flatMap((journal) => conversationOf(journal, rows.get(journal.file.path)) ?? [])
      .sort((a, b) => b.touched.localeCompare(a.touched))
  }

  async close(): Promise<void> {
    this.#end.abort()
    clearInterval(this.#poll)
    await this.#update?.catch(() => undefined)
    await this.#pool.close()
    this.#index.close()
  }

  async #find(namespaces: readonly string[]): Promise<readonly FoundJournal[]> {
    const all = await Promise.all(namespaces.map((namespace) => findJournals(this.#options.store, namespace)))
    return all.flat().sort((a, b) => b.file.modifiedMs - a.file.modifiedMs)
  }

  async #removeDeleted(
    known: ReadonlyMap<string, IndexRow>,
    { namespaces, found }: { readonly namespaces: readonly string[]; readonly found: readonly FoundJournal[] },
  ): Promise<void> {
    const paths = new Set(found.map(({ file }) => file.path))
    const listed = new Set(namespaces.map((one) => journalDirectoryIn(this.#options.store, one) ?? one))
    const deleted = [...known.values()].filter(
      ({ path }) => !paths.has(path) && listed.has(parseStoreUri(path)?.project ?? dirname(path)),
    )
    if (deleted.length > 0) await retryWhileBusy(() => this.#index.remove(deleted.map(({ file }) => file)))
  }

  #isDue(path: string): boolean {
    return Date.now() - (this.#readAt.get(path) ?? 0) >= REREAD_MS
  }

  #rows(): ReadonlyMap<string, IndexRow> {
    const rows = this.#index.db.statement(ROWS).all() as unknown as readonly IndexRow[]
    return new Map(rows.map((row) => [row.path, row]))
  }

  async #read(changed: readonly FoundJournal[]): Promise<void> {
    this.#remaining = changed.length
    try {
      const queue = changed.values()
      const stopped = whenStopped(this.#end.signal)
      const reader = async () => {
        let batch: { readonly file: LocatedFile; readonly read: ReadFile }[] = []
        for (const { file } of queue) {
          if (this.#end.signal.aborted) return
          this.#readAt.set(file.path, Date.now())
          const { path, size } = file
          const journal = await this.#fetchJournal(path)
          const read = await Promise.race([this.#pool.run({ kind: "read", path, size, ...journal }), stopped])
          if (read === undefined) return
          batch.push({ file, read })
          this.#remaining--
          if (batch.length < BATCH) continue
          await this.#store(batch)
          batch = []
        }
        if (batch.length > 0) await this.#store(batch)
      }
      await Promise.all(Array.from({ length: MAX_WORKERS }, reader))
      if (!this.#end.signal.aborted) await retryWhileBusy(() => recountShared(this.#index))
    } finally {
      this.#update = undefined
      this.#remaining = 0
    }
    this.#report()
  }

  async #store(batch: Parameters<UsageIndex["store"]>[0]): Promise<void> {
    await retryWhileBusy(() => this.#index.store(batch))
    this.#report()
  }

  #report(): void {
    if (!this.#end.signal.aborted) for (const listener of this.#listeners) listener()
  }
}

/** A file of the index with its conversation, if it has one. */
interface IndexRow {
  readonly file: number
  readonly path: string
  readonly size: number
  readonly modified: number
  readonly inode: number
  readonly problem: string | null
  readonly title: string | null
  readonly model: string | null
  readonly project: string | null
  readonly last: string | null
  readonly turns: number
  readonly compactions: number
  readonly dollars: number
  readonly cost: UsageRow["cost"]
  readonly digest: string | null
}

const ROWS = `SELECT file.id AS file, file.path, file.size, file.modified, file.inode, file.problem,
  c.title, c.model, c.project, c.last, c.turns, c.compactions, c.dollars, c.cost, c.digest
  FROM file LEFT JOIN conversation c ON c.file = file.id WHERE file.program = 'strata'`

const isSame = (known: IndexRow | undefined, { size, modifiedMs, inode }: LocatedFile): boolean =>
  known?.size === size && known.modified === modifiedMs && known.inode === inode

/** `undefined` if the journal has no message, or cannot be read. */
function conversationOf(
  { id, namespace, file }: FoundJournal,
  row: IndexRow | undefined,
): IndexedConversation | undefined {
  const written = new Date(file.modifiedMs).toISOString()
  if (!row) return { id, namespace, touched: written }
  if (row.digest === null) return undefined
  const { title, model, project, last } = row
  return {
    ...{ id, namespace, touched: last ?? written },
    ...(title === null ? {} : { title }),
    ...(model === null ? {} : { model }),
    ...(project === null ? {} : { directory: project }),
    usage: usageOf(row, JSON.parse(row.digest) as Digest),
  }
}

function usageOf({ turns, dollars, cost, compactions }: IndexRow, { spent }: Digest): ConversationUsage {
  const billed = spent.reduce((sum, { requests }) => sum + requests, 0)
  return {
    ...{ dollars, cost, compactions, requests: Math.max(billed, turns) },
    tokens: spent.reduce((sum, { counts }) => sum + inputTokens(counts) + counts.output, 0),
  }
}

async function findJournals(store: Store, namespace: string): Promise<readonly FoundJournal[]> {
  const directory = journalDirectoryIn(store, namespace)
  // conversations without an owner are not part of reports about the user's own
  const at = { program: "strata", place: isLocalNamespace(namespace) ? "home" : "dir" } as const
  if (directory === undefined)
    return (await store.list(namespace, { isBare: true })).map(({ id, bytes, touched }) => ({
      ...{ id, namespace },
      file: {
        ...at,
        path: storeUri({ project: namespace, id }),
        size: bytes,
        modifiedMs: Date.parse(touched),
        inode: 0,
      },
    }))
  const names = await readdir(directory).catch((): string[] => [])
  return names.flatMap((name) => {
    if (!name.endsWith(JOURNAL)) return []
    const path = join(directory, name)
    const facts = statSync(path, { throwIfNoEntry: false })
    if (!facts?.isFile()) return []
    const file = { ...at, path, size: facts.size, modifiedMs: facts.mtimeMs, inode: facts.ino }
    return [{ id: basename(name, JOURNAL), namespace, file }]
  })
}

const JOURNAL = ".jsonl"
