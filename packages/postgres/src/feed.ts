/** Growing journals of a namespace. A poll asks for those written since the previous one, and from time to time for all. */

import { isSafeId } from "@strata/core"
import type { AppendedLines, FeedLine, FeedPoll, JournalFeed, JournalSize } from "@strata/core/store"
import type { Database } from "./database.ts"
import type { ListRow } from "./listing.ts"
import { journalNamespaceKey } from "./names.ts"
import { linesIn } from "./read-lines.ts"

/** Interval after which deleted journals are noticed. */
const ALL_AGAIN_MS = 60_000
/** A write has its timestamp before it becomes visible, at most this much earlier. */
const SEEN_LATER_MS = 10_000

export interface PostgresFeedOptions {
  readonly database: Database
  readonly tenant: string
  readonly place: { readonly project: string; readonly under?: string }
  readonly listeners: Set<(appended: AppendedLines) => void>
}

export class PostgresFeed implements JournalFeed {
  readonly #parts: PostgresFeedOptions
  /** The journals seen by the last poll and the time of the latest write, by the server's clock. */
  #seen: { readonly all: Map<string, number>; latest: number; readonly at: number } | undefined

  constructor(parts: PostgresFeedOptions) {
    this.#parts = parts
  }

  async poll(unread: ReadonlySet<string>): Promise<FeedPoll> {
    const seen = this.#seen
    if (!seen || performance.now() - seen.at > ALL_AGAIN_MS) return this.#lookAtAll()
    const rows = await this.#list(seen.latest - SEEN_LATER_MS)
    const grown = rows.filter(({ id, bytes }) => seen.all.get(id) !== bytes)
    for (const { id, bytes, touched } of rows) {
      seen.all.set(id, bytes)
      seen.latest = Math.max(seen.latest, touched)
    }
    const missing = [...unread].filter((id) => !grown.some((row) => row.id === id))
    const others = missing.length === 0 ? new Map<string, JournalSize>() : await this.sizes(new Set(missing))
    return {
      journals: new Map([...sizesFrom(grown), ...others]),
      isAll: false,
      deleted: missing.filter((id) => !others.has(id)),
    }
  }

  async #lookAtAll(): Promise<FeedPoll> {
    const rows = await this.#list(null)
    const all = new Map(rows.map(({ id, bytes }) => [id, bytes]))
    this.#seen = { all, latest: Math.max(0, ...rows.map(({ touched }) => touched)), at: performance.now() }
    return { journals: sizesFrom(rows), isAll: true, deleted: [] }
  }

  async sizes(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, JournalSize>> {
    const rows = await this.#sized([...ids].filter(isSafeId))
    return sizesFrom(rows.toSorted((a, b) => b.touched - a.touched))
  }

  forget(): void {
    this.#seen = undefined
  }

  async *lines(id: string, from: number): AsyncGenerator<FeedLine> {
    const [found] = isSafeId(id) ? await this.#sized([id]) : []
    if (!found) return
    const { database, tenant } = this.#parts
    const read = (at: number, to: number) =>
      database.value<Buffer | null>("read", tenant, found.jid, at, to).then((bytes) => bytes ?? undefined)
    for await (const { offset, line } of linesIn({ range: { from, to: found.bytes }, read }))
      yield { offset, bytes: line, ended: true }
  }

  onAppended(listener: (appended: AppendedLines) => void): () => void {
    const { listeners } = this.#parts
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  close(): void {
    this.forget()
  }

  #list(since: number | null): Promise<readonly ListRow[]> {
    const { database, tenant, place } = this.#parts
    return database.rows<ListRow>("list", tenant, ...journalNamespaceKey(place), since, false)
  }

  async #sized(ids: readonly string[]): Promise<readonly SizedRow[]> {
    const { database, tenant, place } = this.#parts
    const [project, under] = journalNamespaceKey(place)
    const rows = await database.rows<Omit<SizedRow, "id"> & { readonly n: number }>(
      "sizes",
      ...[tenant, ids.map(() => project), ids.map(() => under), ids],
    )
    return rows.map(({ n, ...row }) => ({ ...row, id: ids[n - 1]! }))
  }
}

interface SizedRow {
  readonly id: string
  readonly jid: number
  readonly bytes: number
  readonly touched: number
}

const sizesFrom = (rows: readonly Pick<SizedRow, "id" | "bytes" | "touched">[]): ReadonlyMap<string, JournalSize> =>
  new Map(rows.map(({ id, bytes, touched }) => [id, { bytes, touched }]))
