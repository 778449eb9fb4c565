/** A passage store in an SQLite file, or in memory, with synchronous methods. Several processes may use one file. */
import type {
  NewPassage,
  PassageCursor,
  PassageDelta,
  PassageUpdate,
  StoredPassage,
  TokenCount,
} from "../../journal/passage-store.ts"
import { SqliteIndexFile } from "./index-file.ts"
import type { SyncPassageStore } from "./index-query.ts"
import { findPassagesWith } from "./literal-search.ts"
import {
  addPassages,
  addSource,
  factsAfter,
  packFacts,
  ROW,
  removePassages,
  rowFrom,
  SHAPE,
  sourceId,
  sourceToken,
  TERMS_BETWEEN,
} from "./passage-table.ts"

interface SqlitePassageUpdate extends PassageUpdate {
  /** Removes what the source had before. */
  readonly isRestart: boolean
}

export class SqlitePassageStore implements SyncPassageStore {
  readonly #file: SqliteIndexFile
  #positions: { readonly at: number; readonly all: Map<string, string> } | undefined

  /** `path`: a file, or `:memory:`. */
  constructor(path: string) {
    this.#file = new SqliteIndexFile(path, SHAPE)
  }

  extend(steps: readonly SqlitePassageUpdate[]): readonly boolean[] {
    const taken = this.#file.inTransaction(() => {
      const each = steps.map((step) => this.#extended(step))
      packFacts(this.#file)
      return each
    })
    for (const [at, { source, to }] of steps.entries()) if (taken[at]) this.#positions?.all.set(source, to)
    return taken
  }

  #extended({ source, passages, from, to, isRestart }: SqlitePassageUpdate): boolean {
    const known = this.#file.statement("SELECT id, mark FROM sources WHERE name = ?").get(source)
    if ((known === undefined ? undefined : String(known.mark)) !== from) return false
    if (isRestart && known) removePassages(this.#file, Number(known.id))
    const id = known ? Number(known.id) : addSource(this.#file, source, to)
    this.#file.statement("UPDATE sources SET mark = ? WHERE id = ?").run(to, id)
    addPassages(this.#file, passages, id)
    return true
  }

  /** Replaces the passages of these sources, all or none. */
  replace(sources: ReadonlyMap<string, readonly NewPassage[]>, positions: ReadonlyMap<string, string>): void {
    this.#file.inTransaction(() => {
      for (const [source, passages] of sources) {
        const known = sourceId(this.#file, source)
        const position = positions.get(source) ?? ""
        if (known !== undefined) removePassages(this.#file, known)
        const id = known ?? addSource(this.#file, source, position)
        this.#file.statement("UPDATE sources SET mark = ? WHERE id = ?").run(position, id)
        addPassages(this.#file, passages, id)
        this.#positions?.all.set(source, position)
      }
      packFacts(this.#file)
    })
  }

  remove(sources: readonly string[]): void {
    this.#file.inTransaction(() => {
      for (const source of sources) this.#remove(source)
    })
  }

  #remove(source: string): void {
    const id = sourceId(this.#file, source)
    if (id === undefined) return
    removePassages(this.#file, id)
    this.#file.statement("DELETE FROM sources WHERE id = ?").run(id)
    this.#positions?.all.delete(source)
  }

  /** Cached until another process has written. */
  positions(): ReadonlyMap<string, string> {
    const at = this.#file.changes()
    if (this.#positions?.at !== at) {
      const rows = this.#file.statement("SELECT name, mark FROM sources").all()
      this.#positions = { at, all: new Map(rows.map((row) => [String(row.name), String(row.mark)])) }
    }
    return this.#positions.all
  }

  changes(since: PassageCursor): PassageDelta {
    const removals = Number(this.#file.statement("SELECT count FROM removals").get()!.count)
    const isContinued = removals === since.removals
    const [passage, source] = isContinued ? [since.passage, since.source] : [0, 0]
    const facts = factsAfter(this.#file, passage)
    const sources = this.#file.statement("SELECT id, name FROM sources WHERE id > ?").all(source)
    const documents = since.tokens.map((token) => this.#documentsWith(token))
    const counts = new Map(since.tokens.map((token, at) => [token, documents[at]!]))
    const missed = since.queryTokens.filter((token) => (counts.get(token) ?? 0) === 0).slice(0, since.maxMissed)
    const rows = isContinued ? this.#rowsAfter(passage, since.maxRows, facts) : undefined
    return {
      ...{ removals, facts, documents, ...(rows ? { rows } : {}) },
      sources: new Map(sources.map(({ id, name }) => [Number(id), String(name)])),
      byPrefix: new Map(missed.map((token) => [token, this.#beginning(token, since.maxSimilar)])),
    }
  }

  #rowsAfter(passage: number, max: number, facts: PassageDelta["facts"]): readonly StoredPassage[] | undefined {
    const isNone = facts.every(({ length }) => length === 0)
    if (isNone || max === 0) return isNone ? [] : undefined
    const rows = this.#file.statement(`SELECT ${ROW} FROM passages WHERE id > ? ORDER BY id LIMIT ?`)
    const found = rows.all(passage, max + 1).map(rowFrom)
    return found.length > max ? undefined : found
  }

  #documentsWith(token: string): number {
    return Number(this.#file.statement("SELECT doc FROM vocabulary WHERE term = ?").get(token)?.doc ?? 0)
  }

  #beginning(token: string, max: number): readonly TokenCount[] {
    return this.#file
      .statement("SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? ORDER BY doc, term LIMIT ?")
      .all(token, `${token}~`, max)
      .map(({ term, doc }) => ({ token: String(term), documents: Number(doc) }))
  }

  postings(tokens: readonly string[], source?: number): readonly Uint32Array[] {
    const match = "SELECT CAST(group_concat(rowid) AS BLOB) AS ids FROM words WHERE words MATCH ?"
    const of = source === undefined ? "" : ` AND "${sourceToken(source)}"`
    return tokens.map((token) => this.#file.ids(match, `"${token}"${of}`))
  }

  vocabulary(): string {
    return TERMS_BETWEEN.map((range) => `${this.#file.statement(range).get()?.terms ?? ""}\n`).join("")
  }

  rows(ids: readonly number[]): readonly StoredPassage[] {
    return this.#file
      .statement(`SELECT ${ROW} FROM passages WHERE id IN (SELECT value FROM json_each(?))`)
      .all(JSON.stringify(ids))
      .map(rowFrom)
  }

  /** The newest passages that contain a text and fit. `tokens`: every passage with the text has them. */
  newestWith(query: Parameters<typeof findPassagesWith>[1]): readonly number[] {
    return findPassagesWith(this.#file, query)
  }

  neighbors(ids: readonly number[], max: number): readonly (readonly StoredPassage[])[] {
    const around = this.#file.statement(
      `SELECT ${ROW} FROM passages WHERE id BETWEEN ? AND ? AND source = (SELECT source FROM passages WHERE id = ?) ORDER BY id`,
    )
    return ids.map((id) => around.all(id - max, id + max, id).map(rowFrom))
  }

  vectors(hashes: readonly string[]): ReadonlyMap<string, Float32Array> {
    const rows = this.#file
      .statement("SELECT hash, vector FROM vectors WHERE hash IN (SELECT value FROM json_each(?))")
      .all(JSON.stringify(hashes))
    return new Map(
      rows.map(({ hash, vector }) => [String(hash), new Float32Array((vector as Uint8Array).slice().buffer)]),
    )
  }

  keepVectors(vectors: ReadonlyMap<string, Float32Array>): void {
    const keep = this.#file.statement("INSERT OR REPLACE INTO vectors (hash, vector) VALUES (?, ?)")
    this.#file.inTransaction(() => {
      for (const [hash, { buffer, byteOffset, byteLength }] of vectors)
        keep.run(hash, new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength))
    })
  }

  clearVectors(): void {
    this.#file.statement("DELETE FROM vectors").run()
  }

  /** The names of the sources with a message that matches. */
  sourcesWith(isWanted: (uuid: string) => boolean): ReadonlySet<string> {
    const rows = this.#file.statement("SELECT DISTINCT source, uuid FROM passages").iterate()
    const sourceIds = new Set<number>()
    for (const { source, uuid } of rows) if (isWanted(String(uuid))) sourceIds.add(Number(source))
    const name = this.#file.statement("SELECT name FROM sources WHERE id = ?")
    return new Set([...sourceIds].map((source) => String(name.get(source)?.name)))
  }

  /** Runs work in a read transaction, so that it does not see writes of other processes. */
  inOneState<T>(work: () => T): T {
    return this.#file.inOneState(work)
  }

  /** Runs work in the background, which does not wait for other processes. */
  briefly<T>(work: () => Promise<T>): Promise<T> {
    return this.#file.briefly(work)
  }

  close(): void {
    this.#file.close()
  }
}
