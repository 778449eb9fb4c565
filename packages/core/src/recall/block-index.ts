/**
 * A full-text index of every block: what was said, tool inputs and results. Exact names are found whole, by their parts and by their
 * beginning. The index holds nothing that cannot be rebuilt from the journals. Adding costs what is new.
 */
import { blockTerms, hasTerms, questionTerms } from "./block-terms.ts"
import type { Extension, FollowingIndex } from "./followed-journals.ts"
import { IndexFile, type IndexShape, isPlainTerm, tokenOf } from "./index-file.ts"
import { type Passage, rankBlocks, type WantedTerm } from "./rank-blocks.ts"

/** Passages whose texts are read and compared with the question. */
const CANDIDATES = 100
/** Passages that contain a term of the question, over all its terms. The rarest terms come first. */
const MOST_LISTED = 60_000
/** Terms that begin with, or contain, a word that no passage has. */
const MOST_SIMILAR = 20
/** Words for which such terms are looked up: each reads the whole vocabulary. */
const MOST_MISSED = 4

const SHAPE: IndexShape = {
  version: 1,
  tables: ["vocabulary", "words", "sources", "passages"],
  create: `
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, uuid TEXT NOT NULL, blocks TEXT NOT NULL, kind TEXT NOT NULL, label TEXT,
    time INTEGER, start INTEGER NOT NULL, length INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE INDEX passages_by_source ON passages (source);
  CREATE INDEX passages_by_time ON passages (time);
  CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, mark TEXT NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5 (body, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);`,
}

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

interface Where {
  readonly kind: string | undefined
  readonly sourceId: number | undefined
}

export class BlockIndex implements FollowingIndex<BlockPassage> {
  readonly #file: IndexFile

  /** `path`: a file, or `:memory:`. */
  constructor(path: string) {
    this.#file = new IndexFile(path, SHAPE)
  }

  extend({ source, passages, from, to, isRestart = false }: Extension<BlockPassage>): boolean {
    return this.#file.inTransaction(() => {
      const known = this.#file.statement("SELECT id, mark FROM sources WHERE name = ?").get(source)
      if ((known === undefined ? undefined : String(known.mark)) !== from) return false
      if (isRestart && known) this.#removePassages(Number(known.id))
      const id = known
        ? Number(known.id)
        : Number(this.#file.statement("INSERT INTO sources (name, mark) VALUES (?, ?)").run(source, to).lastInsertRowid)
      this.#file.statement("UPDATE sources SET mark = ? WHERE id = ?").run(to, id)
      for (const passage of passages) this.#insert(passage, id)
      return true
    })
  }

  remove(source: string): void {
    this.#file.inTransaction(() => {
      const id = this.#sourceId(source)
      if (id === undefined) return
      this.#removePassages(id)
      this.#file.statement("DELETE FROM sources WHERE id = ?").run(id)
    })
  }

  marks(): ReadonlyMap<string, string> {
    const rows = this.#file.statement("SELECT name, mark FROM sources").all()
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
    const count = Number(this.#file.statement("SELECT count(*) AS count FROM passages").get()!.count)
    const wanted = this.#wanted(text, count)
    const isDuring = since || until ? this.#during(since, until) : undefined
    const scores = hasTerms(text) ? this.#scores(wanted, marked) : this.#literal(text.trim(), { kind, sourceId })
    const ids = [...scores]
      .filter(([id]) => isDuring?.has(id) ?? true)
      .sort(([a, x], [b, y]) => y - x || b - a)
      .slice(0, CANDIDATES)
      .map(([id]) => id)
    return rankBlocks({ text, wanted, scores, limit }, this.#passages(ids))
  }

  close(): void {
    this.#file.close()
  }

  /** The terms to look for, the rarest first. For a word that no passage has: those that begin with it, or contain it. */
  #wanted(text: string, count: number): readonly WantedTerm[] {
    const exact = questionTerms(text).map((term) => this.#wantedTerm(term, count))
    const present = exact.filter(({ documents }) => documents > 0)
    const similar = exact
      .filter(({ documents, term }) => documents === 0 && term.length > 2)
      .slice(0, MOST_MISSED)
      .flatMap(({ term }) =>
        this.#similar(term).map((other) => ({ ...this.#wantedTerm(other, count), isSimilar: true })),
      )
    return [...present, ...similar].sort((a, b) => b.weight - a.weight)
  }

  #wantedTerm(term: string, count: number): WantedTerm {
    const row = this.#file.statement("SELECT doc FROM vocabulary WHERE term = ?").get(tokenOf(term))
    const documents = Number(row?.doc ?? 0)
    // the inverse document frequency of BM25
    return { term, documents, weight: Math.log(1 + (count - documents + 0.5) / (documents + 0.5)), isSimilar: false }
  }

  #similar(term: string): readonly string[] {
    if (!isPlainTerm(term)) return []
    const beginning = this.#file
      .statement(`SELECT term FROM vocabulary WHERE term >= ? AND term < ? ORDER BY doc LIMIT ${MOST_SIMILAR}`)
      .all(term, `${term}~`)
    const rows =
      beginning.length > 0
        ? beginning
        : this.#file
            .statement(`SELECT term FROM vocabulary WHERE term LIKE ? ORDER BY doc LIMIT ${MOST_SIMILAR}`)
            .all(`%${term}%`)
    return rows.map((row) => String(row.term))
  }

  #scores(wanted: readonly WantedTerm[], marked: readonly string[]): ReadonlyMap<number, number> {
    const scores = new Map<number, number>()
    let listed = 0
    for (const [at, { term, weight, documents }] of wanted.entries()) {
      listed += documents
      if (at > 0 && listed > MOST_LISTED) break
      const query = [tokenOf(term), ...marked].map((token) => `"${token}"`).join(" AND ")
      const ids = this.#file.ids("SELECT group_concat(rowid) AS ids FROM words WHERE words MATCH ?", query)
      for (const id of ids) scores.set(id, (scores.get(id) ?? 0) + weight)
    }
    return scores
  }

  /** A question without words, such as an emoji or an operator, is compared with the texts themselves. */
  #literal(text: string, { kind, sourceId }: Where): ReadonlyMap<number, number> {
    if (text === "") return new Map()
    const limits = [sourceId === undefined ? "" : "AND source = ?", kind === undefined ? "" : "AND kind = ?"].join(" ")
    const rows = this.#file
      .statement(`SELECT id FROM passages WHERE instr(text, ?) > 0 ${limits} ORDER BY id DESC LIMIT ${CANDIDATES}`)
      .all(text, ...[sourceId, kind].filter((value) => value !== undefined))
    return new Map(rows.map(({ id }) => [Number(id), 1]))
  }

  #during(since: Date | undefined, until: Date | undefined): ReadonlySet<number> {
    const ids = this.#file.ids(
      "SELECT group_concat(id) AS ids FROM passages WHERE time >= ? AND time < ?",
      since?.getTime() ?? Number.MIN_SAFE_INTEGER,
      until?.getTime() ?? Number.MAX_SAFE_INTEGER,
    )
    return new Set(ids)
  }

  #passages(ids: readonly number[]): readonly Passage[] {
    const rows = this.#file
      .statement(
        `SELECT passages.id AS id, name, uuid, blocks, kind, label, time, start, length, text FROM passages JOIN sources
        ON sources.id = source WHERE passages.id IN (SELECT value FROM json_each(?))`,
      )
      .all(JSON.stringify(ids))
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
    const { lastInsertRowid } = this.#file
      .statement(
        "INSERT INTO passages (source, uuid, blocks, kind, label, time, start, length, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(source, uuid, blocks, kind, label ?? null, Number.isNaN(at) ? null : at, start, length, text)
    const tokens = blockTerms(`${label ?? ""} ${text}`).map(tokenOf)
    this.#file
      .statement("INSERT INTO words (rowid, body) VALUES (?, ?)")
      .run(lastInsertRowid, [sourceToken(source), kindToken(kind), ...tokens].join(" "))
  }

  #sourceId(name: string): number | undefined {
    const id = this.#file.statement("SELECT id FROM sources WHERE name = ?").get(name)?.id
    return id === undefined ? undefined : Number(id)
  }

  #removePassages(source: number): void {
    this.#file.statement("DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE source = ?)").run(source)
    this.#file.statement("DELETE FROM passages WHERE source = ?").run(source)
  }
}

// no term begins with these characters
const sourceToken = (id: number) => tokenOf(`\u0001${id}`)
const kindToken = (kind: string) => tokenOf(`\u0002${kind}`)
