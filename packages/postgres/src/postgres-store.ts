/**
 * A store on PostgreSQL, shared by processes on many machines. Each call of the port is one statement, so a transaction pooler may be in
 * between.
 */
import { randomUUID } from "node:crypto"
import { ConversationLockedError, ConversationNotFoundError, isSafeId, type Store, StrataError } from "@strata/core"
import { escapeToLine, validateId } from "@strata/core/base"
import {
  type AppendedLines,
  committedMemory,
  type FlushMode,
  type JournalAddress,
  type MemoryFiles,
  type MemoryNamespace,
  type OpenJournalOptions,
} from "@strata/core/store"
import type { Pool } from "pg"
import { postgresLog } from "./append-log.ts"
import { ChangeNotifier } from "./change-notifier.ts"
import { postgresContents } from "./contents.ts"
import { Database } from "./database.ts"
import { PostgresFeed } from "./feed.ts"
import { type OpenedJournal, PostgresJournal } from "./journal.ts"
import { type ListRow, listingFrom } from "./listing.ts"
import { PostgresMailbox } from "./mailbox.ts"
import { postgresMemory } from "./memory-files.ts"
import { journalNamespaceKey, memoryNamespaceKey, validateProject } from "./names.ts"
import { listOutdatedPassageStores, PostgresPassageStore } from "./passage-store.ts"
import { postgresPermit } from "./permits.ts"
import { type PoolHandle, sharedPool } from "./pool.ts"
import { LEASE_SECONDS, type LeaseOwnerRow, leaseOwner, ProcessLease } from "./process-lease.ts"
import { MAX_BYTES } from "./read-lines.ts"

export interface PostgresStoreOptions {
  /** Your own pool. It is not ended with the store. */
  readonly pool?: Pool
  /** Alternative to `pool`: a pool is made, and shared by all stores of the process with the same address. TLS as in `pg`. */
  readonly connectionString?: string
  /** The owner of the data. Tenants are isolated from each other. Default: `default`. */
  readonly tenant?: string
  /** Which writes survive a power failure of the server. Default: `always`. */
  readonly flush?: FlushMode
  /** How long leases of a dead process stay reserved. Default: 30. */
  readonly leaseSeconds?: number
  /** How long a call is repeated while the server cannot be reached. With 0 there is a single attempt. Default: 30,000. */
  readonly retryTimeoutMs?: number
  /** How long one attempt of a call may take. Default: 60,000. */
  readonly timeoutMs?: number
  /** Called with `true` when the server has not answered for two seconds, and with `false` when it answers again or the call fails. */
  readonly onWaiting?: (isWaiting: boolean) => void
}

export interface PostgresStore extends Store {
  /** Releases its leases, and ends its pool if no other store uses it. Close journals before. */
  close(): Promise<void>
}

const MAX_TENANT = 200
const DEFAULT_TENANT = "default"

export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { tenant = DEFAULT_TENANT, flush = "always", leaseSeconds = LEASE_SECONDS } = options
  checkTenant(tenant)
  const use = poolFor(options)
  const description = tenant === DEFAULT_TENANT ? use.description : `${use.description}, tenant ${escapeToLine(tenant)}`
  const { retryTimeoutMs, timeoutMs, onWaiting } = options
  const database = new Database({
    pool: use.pool,
    ...(retryTimeoutMs === undefined ? {} : { retryTimeoutMs }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(onWaiting ? { onWaiting } : {}),
  })
  const holder = new ProcessLease({ database, tenant, leaseSeconds })
  const arrivals = new ChangeNotifier(use.pool)
  const listeners = new Map<string, Set<(appended: AppendedLines) => void>>()
  /** The journals that callers write or wait for. */
  const writing = new Set<string>()
  const listenersOf = (place: Omit<JournalAddress, "id">) => {
    const key = journalNamespaceKey(place).join("/")
    const found = listeners.get(key) ?? new Set()
    listeners.set(key, found)
    return found
  }

  return {
    description,
    isShared: true,

    async open(address, given) {
      const key = [...journalNamespaceKey(address), validateId("conversation id", address.id)]
      const name = key.join("/")
      const isOnly = given.access === "write" && !writing.has(name)
      if (isOnly) writing.add(name)
      const endHolding = given.access === "write" ? holder.keep() : () => undefined
      const end = () => {
        endHolding()
        if (isOnly) writing.delete(name)
      }
      const open = () => database.row<OpenRow>("open", ...openValues(key, given, holder))
      try {
        let row = await open()
        if (isOnly && row.state === "held" && row.other_holder === holder.id) {
          await database.rows("close", tenant, row.journal_id, holder.id, row.number) // an earlier attempt to close it failed
          row = await open()
        }
        if (row.state === "absent") throw new ConversationNotFoundError(address.id, description)
        if (row.state === "held") throw new ConversationLockedError(address.id, otherIn(row, holder))
        const journal = new PostgresJournal({
          ...{ address, database, holder, flush },
          location: `postgres:${key.filter((part) => part !== "").join("/")}`,
          opened: openedFrom(row),
          onAppended: (appended) => {
            for (const listener of [...listenersOf(address)]) listener(appended)
          },
          onClosed: end,
        })
        return given.preload ? await journal.decodePreloaded() : journal
      } catch (error) {
        end()
        throw error
      }
    },

    projects: async () => (await database.rows<{ project: string }>("projects", tenant)).map(({ project }) => project),

    async list(project, { under, isBare = false } = {}) {
      const place = journalNamespaceKey(under === undefined ? { project } : { project, under })
      const rows = await database.rows<ListRow>("list", tenant, ...place, null, !isBare)
      return rows.map(listingFrom)
    },

    async has(addresses) {
      const keys = addresses.map((address) => [...journalNamespaceKey(address), isSafeId(address.id) ? address.id : ""])
      const columns = [0, 1, 2].map((at) => keys.map((key) => key[at]!))
      const rows = addresses.length === 0 ? [] : await database.rows<{ n: number }>("sizes", tenant, ...columns)
      const there = new Set(rows.map(({ n }) => n))
      return addresses.map((_, at) => there.has(at + 1))
    },

    async writerOf(address) {
      const key = [...journalNamespaceKey(address), validateId("conversation id", address.id)]
      return leaseOwner(await database.row<LeaseOwnerRow>("writer", tenant, ...key), holder)
    },

    memories: (place) => openMemories(place, { database, tenant }),

    mailboxes: ({ project, team }) =>
      new PostgresMailbox({
        ...{ database, holder, arrivals },
        project: validateProject(project),
        team: validateId("team name", team),
      }),

    permit: (address) => postgresPermit(address, { database, holder }),
    feed: (place) => new PostgresFeed({ database, tenant, place, listeners: listenersOf(place) }),
    passages: (address) => new PostgresPassageStore({ database, tenant, address }),
    outdatedPassages: () => listOutdatedPassageStores(database, tenant),

    log: (address) => postgresLog({ database, tenant, address }),
    contents: () => postgresContents({ database, holder }),

    async close() {
      await arrivals.close()
      await use.end()
    },
  }
}

function checkTenant(tenant: string): void {
  // an empty tenant would match a session in which none was set
  if (tenant !== "" && tenant.length <= MAX_TENANT && tenant.isWellFormed() && !tenant.includes("\0")) return
  throw new StrataError(
    `A tenant name must have 1 to ${MAX_TENANT} characters, all of them valid Unicode. Nothing was opened.`,
  )
}

function poolFor({ pool, connectionString, timeoutMs }: PostgresStoreOptions): PoolHandle {
  if (pool) return { pool, description: "PostgreSQL", end: async () => undefined }
  if (connectionString !== undefined) return sharedPool(connectionString, timeoutMs)
  throw new StrataError("postgresStore needs a pool or a connectionString. Nothing was opened.")
}

interface OpenRow {
  readonly state: "opened" | "created" | "absent" | "held"
  readonly number: number | null
  readonly journal_id: number
  readonly size: number
  readonly tail_at: number
  readonly took_over: boolean | null
  readonly lines: Buffer | null
  readonly kept: Buffer | null
  readonly sent: string | null
  readonly words: string | null
  readonly other_holder: string
  readonly other_pid: number
  readonly other_host: string
  readonly other_since: number
}

function openValues(
  key: readonly string[],
  { access, create = false, preload = false }: OpenJournalOptions,
  { tenant, identity }: ProcessLease,
): readonly unknown[] {
  return [tenant, ...key, access === "write", create, preload, MAX_BYTES, ...identity, randomUUID()]
}

const otherIn = (
  { number, other_holder, other_pid: pid, other_host: host, other_since: since }: OpenRow,
  holder: ProcessLease,
) => leaseOwner({ number, holder_id: other_holder, pid, host, since }, holder)!

const openedFrom = (row: OpenRow): OpenedJournal => ({
  jid: row.journal_id,
  bytes: row.size,
  tailAt: row.tail_at,
  ...(row.number === null ? {} : { fence: row.number }),
  created: row.state === "created",
  tookOver: row.took_over === true,
  ...(row.lines === null ? {} : { lines: row.lines }),
  ...(row.kept === null ? {} : { checkpoint: row.kept }),
  ...(row.sent === null ? {} : { sent: row.sent }),
  hasFirstWords: row.words !== null,
})

interface MemoryStoreOptions {
  readonly database: Database
  readonly tenant: string
}

/** Memories of the working directory are committed there, whatever the store. */
function openMemories(place: MemoryNamespace, ground: MemoryStoreOptions): MemoryFiles {
  if ("agent" in place && place.scope === "project") return committedMemory(place)
  return postgresMemory({ ...ground, place: memoryNamespaceKey(place) })
}
