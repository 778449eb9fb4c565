/**
 * A full-text index of every block: what was said, tool inputs and results. Exact names are found whole, by their parts and by their
 * beginning. The index holds nothing that cannot be rebuilt from the journals. Adding costs what is new.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { blockTerms } from "./block-terms.ts"
import type { Extension, FollowingIndex } from "./followed-journals.ts"
import { type Passage, rankBlocks, type WantedTerm } from "./rank-blocks.ts"

/** Raise it when tables or terms change. An index of another version is emptied and filled again. */
const VERSION = 1
const BUSY_MILLISECONDS = 5_000 // how long to wait while another process writes
/** Passages whose texts are read and compared with the question. */
const CANDIDATES = 100
/** Passages that contain a term of the question, over all its terms. The rarest terms come first. */
const MOST_LISTED = 60_000
/** Terms that begin with, or contain, a word that no passage has. */
const MOST_SIMILAR = 20

const TABLES = `
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, uuid TEXT NOT NULL, blocks TEXT NOT NULL, kind TEXT NOT NULL, label TEXT,
    time INTEGER, start INTEGER NOT NULL, length INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE INDEX passages_by_source ON passages (source);
  CREATE INDEX passages_by_time ON passages (time);
  CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, mark TEXT NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5 (body, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
  PRAGMA user_version = ${VERSION};`
const DROP = ["vocabulary", "words", "sources", "passages"].map((name) => `DROP TABLE IF EXISTS ${name};`).join("")

export interface BlockPassage {
  readonly uuid: string
  /** The place of the block: `0`, `0.1`, or empty. */
  readonly blocks: string
  readonly kind: string
  readonly label?: string
  readonly time: string
  /** Where the text begins in the block, and how long the block is. */
  readonly start: number
  readonly length: number
  readonly text: string
}

export interface FoundBlock extends BlockPassage {
  readonly source: string
  /** Where in the text the match is. */
  readonly at: number
  readonly score: number
}

export interface BlockQuestion {
  readonly text: string
  readonly kind?: string
  readonly since?: Date
  readonly until?: Date
  /** Only this conversation. Default: all. */
  readonly source?: string
  readonly limit: number
}

export interface BlocksFound {
  readonly found: readonly FoundBlock[]
  /** Blocks that fit too. */
  readonly more: number
}

export class BlockIndex implements FollowingIndex<BlockPassage> {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  /** `path`: a file, or `:memory:`. */
  constructor(path: string) {
    const sqlite = process.getBuiltinModule("node:sqlite")
    this.#db = new sqlite.DatabaseSync(path, { timeout: BUSY_MILLISECONDS })
    try {
      this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;")
      if (this.#version() !== VERSION)
        this.#inTransaction(() => {
          // another process may have been faster
          if (this.#version() !== VERSION) this.#db.exec(DROP + TABLES)
        })
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  extend({ source, passages, from, to, isRestart = false }: Extension<BlockPassage>): boolean {
    return this.#inTransaction(() => {
      const known = this.#statement("SELECT id, mark FROM sources WHERE name = ?").get(source)
      if ((known === undefined ? undefined : String(known.mark)) !== from) return false
      if (isRestart && known) this.#removePassages(Number(known.id))
      const id = known
        ? Number(known.id)
        : Number(this.#statement("INSERT INTO sources (name, mark) VALUES (?, ?)").run(source, to).lastInsertRowid)
      this.#statement("UPDATE sources SET mark = ? WHERE id = ?").run(to, id)
      for (const passage of passages) this.#insert(passage, id)
      return true
    })
  }

  remove(source: string): void {
    this.#inTransaction(() => {
      const id = this.#sourceId(source)
      if (id === undefined) return
      this.#removePassages(id)
      this.#statement("DELETE FROM sources WHERE id = ?").run(id)
    })
  }

  marks(): ReadonlyMap<string, string> {
    const rows = this.#statement("SELECT name, mark FROM sources").all()
    return new Map(rows.map((row) => [String(row.name), String(row.mark)]))
  }

  /** The blocks that fit a question, the best first. */
  search(question: BlockQuestion): BlocksFound {
    const { text, kind, since, until, source, limit } = question
    const sourceId = source === undefined ? undefined : this.#sourceId(source)
    if (source !== undefined && sourceId === undefined) return { found: [], more: 0 }
    const marked = [
      ...(sourceId === undefined ? [] : [sourceToken(sourceId)]),
      ...(kind === undefined ? [] : [kindToken(kind)]),
    ]
    const count = Number(this.#statement("SELECT count(*) AS count FROM passages").get()!.count)
    const wanted = this.#wanted(text, count)
    const isDuring = since || until ? this.#during(since, until) : undefined
    const scores = this.#scores(wanted, marked)
    const ids = [...scores]
      .filter(([id]) => isDuring?.has(id) ?? true)
      .sort(([a, x], [b, y]) => y - x || b - a)
      .slice(0, CANDIDATES)
      .map(([id]) => id)
    return rankBlocks({ text, wanted, scores, limit }, this.#passages(ids))
  }

  close(): void {
    this.#db.close()
  }

  /** The terms to look for, the rarest first. For a word that no passage has: those that begin with it, or contain it. */
  #wanted(text: string, count: number): readonly WantedTerm[] {
    const exact = blockTerms(text).map((term) => this.#wantedTerm(term, count))
    const present = exact.filter(({ documents }) => documents > 0)
    const similar = exact
      .filter(({ documents, term }) => documents === 0 && term.length > 2)
      .flatMap(({ term }) =>
        this.#similar(term).map((other) => ({ ...this.#wantedTerm(other, count), isSimilar: true })),
      )
    return [...present, ...similar].sort((a, b) => b.weight - a.weight)
  }

  #wantedTerm(term: string, count: number): WantedTerm {
    const row = this.#statement("SELECT doc FROM vocabulary WHERE term = ?").get(tokenOf(term))
    const documents = Number(row?.doc ?? 0)
    // the inverse document frequency of BM25
    return { term, documents, weight: Math.log(1 + (count - documents + 0.5) / (documents + 0.5)), isSimilar: false }
  }

  #similar(term: string): readonly string[] {
    if (!isPlain(term)) return []
    const beginning = this.#statement(
      `SELECT term FROM vocabulary WHERE term >= ? AND term < ? ORDER BY doc LIMIT ${MOST_SIMILAR}`,
    ).all(term, `${term}~`)
    const rows =
      beginning.length > 0
        ? beginning
        : this.#statement(`SELECT term FROM vocabulary WHERE term LIKE ? ORDER BY doc LIMIT ${MOST_SIMILAR}`).all(
            `%${term}%`,
          )
    return rows.map((row) => String(row.term))
  }

  #scores(wanted: readonly WantedTerm[], marked: readonly string[]): ReadonlyMap<number, number> {
    const scores = new Map<number, number>()
    let listed = 0
    for (const [at, { term, weight, documents }] of wanted.entries()) {
      listed += documents
      if (at > 0 && listed > MOST_LISTED) break
      const query = [tokenOf(term), ...marked].map((token) => `"${token}"`).join(" AND ")
      // one text with all numbers: a row for each would take five times as long
      const ids = this.#statement("SELECT group_concat(rowid) AS ids FROM words WHERE words MATCH ?").get(query)?.ids
      if (ids === null || ids === undefined) continue
      for (const id of String(ids).split(",").map(Number)) scores.set(id, (scores.get(id) ?? 0) + weight)
    }
    return scores
  }

  #during(since: Date | undefined, until: Date | undefined): ReadonlySet<number> {
    const ids = this.#statement("SELECT group_concat(id) AS ids FROM passages WHERE time >= ? AND time < ?").get(
      since?.getTime() ?? Number.MIN_SAFE_INTEGER,
      until?.getTime() ?? Number.MAX_SAFE_INTEGER,
    )?.ids
    return new Set(ids === null || ids === undefined ? [] : String(ids).split(",").map(Number))
  }

  #passages(ids: readonly number[]): readonly Passage[] {
    const rows = this.#statement(
      `SELECT passages.id AS id, name, uuid, blocks, kind, label, time, start, length, text FROM passages JOIN sources
        ON sources.id = source WHERE passages.id IN (SELECT value FROM json_each(?))`,
    ).all(JSON.stringify(ids))
    return rows.map((row) => ({
      id: Number(row.id),
      source: String(row.name),
      uuid: String(row.uuid),
      blocks: String(row.blocks),
      kind: String(row.kind),
      ...(row.label === null ? {} : { label: String(row.label) }),
      time: row.time === null ? "" : new Date(Number(row.time)).toISOString(),
      start: Number(row.start),
      length: Number(row.length),
      text: String(row.text),
    }))
  }

  #insert({ uuid, blocks, kind, label, time, start, length, text }: BlockPassage, source: number): void {
    const at = Date.parse(time)
    const { lastInsertRowid } = this.#statement(
      "INSERT INTO passages (source, uuid, blocks, kind, label, time, start, length, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ).run(source, uuid, blocks, kind, label ?? null, Number.isNaN(at) ? null : at, start, length, text)
    const tokens = blockTerms(`${label ?? ""} ${text}`).map(tokenOf)
    this.#statement("INSERT INTO words (rowid, body) VALUES (?, ?)").run(
      lastInsertRowid,
      [sourceToken(source), kindToken(kind), ...tokens].join(" "),
    )
  }

  #sourceId(name: string): number | undefined {
    const id = this.#statement("SELECT id FROM sources WHERE name = ?").get(name)?.id
    return id === undefined ? undefined : Number(id)
  }

  #removePassages(source: number): void {
    this.#statement("DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE source = ?)").run(source)
    this.#statement("DELETE FROM passages WHERE source = ?").run(source)
  }

  #version(): number {
    return Number(this.#db.prepare("PRAGMA user_version").get()!.user_version)
  }

  #statement(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql)
    this.#prepared.set(sql, statement)
    return statement
  }

  #inTransaction<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE")
    try {
      const result = work()
      this.#db.exec("COMMIT")
      return result
    } catch (error) {
      this.#db.exec("ROLLBACK")
      throw error
    }
  }
}

const isPlain = (term: string) => /^[a-z0-9]+$/.test(term)

/** SQLite splits text by its own, older Unicode tables. In hex, every term is one word to it. */
const tokenOf = (term: string) => (isPlain(term) ? term : `u${Buffer.from(term).toString("hex")}`)

// no term begins with these characters
const sourceToken = (id: number) => tokenOf(`\u0001${id}`)
const kindToken = (kind: string) => tokenOf(`\u0002${kind}`)
