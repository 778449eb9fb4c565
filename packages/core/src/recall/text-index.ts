/**
 * A full-text index of passages: turns of past conversations, or memories. SQLite finds candidates; `rankPassages` orders them. The index
 * holds nothing that cannot be rebuilt. Adding costs what is new.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { termsOf } from "../base/terms.ts"
import { timeNamedIn } from "./named-time.ts"
import type { Passage } from "./passage.ts"
import { type Found, type Indexed, type Question, rankPassages } from "./ranking.ts"

/** Raise it when tables or terms change. An index of another version is emptied and filled again. */
const VERSION = 1
const BUSY_MILLISECONDS = 5_000 // how long to wait while another process writes
const CANDIDATES = 150
/** On both sides of a candidate: in a dialogue, the words that a question repeats are often in the turn before the answer. */
const NEIGHBOURS = 2
/** A question can be a pasted log. Only its rarest terms are looked up. */
const MOST_TERMS = 24
const MOST_LOOKED_UP = 200
/** A term in more passages than this finds no candidates by itself: it is slow, and says little. */
const COMMON_SHARE = 0.15

const TABLES = `
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, position INTEGER NOT NULL, address TEXT, speaker TEXT, title TEXT, text TEXT NOT NULL,
    time INTEGER, terms TEXT NOT NULL, titleTerms TEXT NOT NULL, length INTEGER NOT NULL, UNIQUE (source, position));
  CREATE INDEX passages_by_time ON passages (time);
  CREATE TABLE marks (source TEXT PRIMARY KEY, mark TEXT NOT NULL);
  CREATE TABLE totals (passages INTEGER NOT NULL, terms INTEGER NOT NULL);
  INSERT INTO totals VALUES (0, 0);
  CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
    UPDATE totals SET passages = passages + 1, terms = terms + new.length;
  END;
  CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
    UPDATE totals SET passages = passages - 1, terms = terms - old.length;
  END;
  CREATE VIRTUAL TABLE words USING fts5 (title, body, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
  PRAGMA user_version = ${VERSION};`
const DROP = ["vocabulary", "words", "totals", "marks", "passages"]
  .map((name) => `DROP TABLE IF EXISTS ${name};`)
  .join("")

/** A step from one state of a source to the next. A mark is any text by which the owner knows how far it has read. */
export interface Extension {
  readonly source: string
  readonly passages: readonly Omit<Passage, "source" | "position">[]
  /** The mark that the caller saw. `undefined`: the source is new. */
  readonly from: string | undefined
  /** Leaves out what was indexed before. */
  readonly isRestart?: boolean
  readonly to: string
}

export class TextIndex {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  /** `path`: a file, or `:memory:`. */
  constructor(path: string) {
    // loaded with the first index: most imports of the library never search
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

  /** Adds passages, all or none. One with the same source and position is replaced. */
  add(passages: readonly Passage[]): void {
    this.#inTransaction(() => {
      for (const passage of passages) {
        this.#remove("source = ? AND position = ?", passage.source, passage.position)
        this.#insert(passage)
      }
    })
  }

  /** Adds the next passages of a source and moves its mark. Says no if another process has moved the mark since. */
  extend({ source, passages, from, to, isRestart = false }: Extension): boolean {
    return this.#inTransaction(() => {
      if (this.mark(source) !== from) return false
      if (isRestart) this.#remove("source = ?", source)
      const last = this.#statement("SELECT max(position) AS last FROM passages WHERE source = ?").get(source)?.last
      let position = last === null || last === undefined ? 0 : Number(last) + 1
      for (const passage of passages) this.#insert({ ...passage, source, position: position++ })
      this.#statement("INSERT OR REPLACE INTO marks (source, mark) VALUES (?, ?)").run(source, to)
      return true
    })
  }

  remove(source: string): void {
    this.#inTransaction(() => {
      this.#remove("source = ?", source)
      this.#statement("DELETE FROM marks WHERE source = ?").run(source)
    })
  }

  marks(): ReadonlyMap<string, string> {
    return new Map(
      this.#statement("SELECT source, mark FROM marks")
        .all()
        .map((row) => [String(row.source), String(row.mark)]),
    )
  }

  mark(source: string): string | undefined {
    const row = this.#statement("SELECT mark FROM marks WHERE source = ?").get(source)
    return row === undefined ? undefined : String(row.mark)
  }

  /** The passages that answer a question, the best first. None where nothing fits. */
  search(question: Question): readonly Found[] {
    const { passages, terms } = this.#statement("SELECT passages, terms FROM totals").get()!
    const count = Number(passages)
    if (count === 0) return []
    const documents = new Map<string, number>()
    const documentsWith = (stem: string) => {
      const known = documents.get(stem) ?? this.#documentsWith(stem)
      documents.set(stem, known)
      return known
    }
    const wanted = [...new Set(termsOf(question.text).map(({ stem }) => stem))]
      .slice(0, MOST_LOOKED_UP)
      .filter((stem) => documentsWith(stem) > 0)
      .sort((a, b) => documentsWith(a) - documentsWith(b))
      .slice(0, MOST_TERMS)
    const telling = wanted.filter((stem) => documentsWith(stem) <= Math.max(CANDIDATES, count * COMMON_SHARE))
    const candidates = this.#candidates(telling.length > 0 ? telling : wanted.slice(0, 1), wanted, question)
    return rankPassages(question, {
      passages: this.#around(candidates),
      count,
      averageLength: Number(terms) / count,
      documentsWith,
    })
  }

  close(): void {
    this.#db.close()
  }

  #candidates(telling: readonly string[], wanted: readonly string[], { text, now }: Question): readonly Place[] {
    if (wanted.length === 0) return []
    const time = timeNamedIn(text, now)
    const order = `ORDER BY bm25(words, 3, 1) LIMIT ${CANDIDATES}`
    const found = "SELECT source, position FROM words JOIN passages ON passages.id = words.rowid WHERE words MATCH ?"
    const rows = [
      ...this.#statement(`${found} ${order}`).all(anyOf(telling)),
      ...(time
        ? this.#statement(`${found} AND time >= ? AND time < ? ${order}`).all(anyOf(wanted), time.from, time.to)
        : []),
    ]
    return rows.map(({ source, position }) => ({ source: String(source), position: Number(position) }))
  }

  /** The candidates and their neighbours, each once. */
  #around(candidates: readonly Place[]): readonly Indexed[] {
    const near = this.#statement("SELECT * FROM passages WHERE source = ? AND position BETWEEN ? AND ?")
    const found = new Map<number, Indexed>()
    for (const { source, position } of candidates) {
      for (const row of near.all(source, position - NEIGHBOURS, position + NEIGHBOURS)) {
        const id = Number(row.id)
        if (!found.has(id)) found.set(id, indexedFrom(row))
      }
    }
    return [...found.values()]
  }

  #documentsWith(stem: string): number {
    return Number(this.#statement("SELECT doc FROM vocabulary WHERE term = ?").get(tokenOf(stem))?.doc ?? 0)
  }

  #insert({ source, position, address, speaker, title, text, time }: Passage): void {
    const body = termsOf(text).map(({ stem }) => stem)
    const heading = [speaker ?? "", title ?? ""].flatMap(termsOf).map(({ stem }) => stem)
    const at = time === undefined ? Number.NaN : Date.parse(time)
    const { lastInsertRowid } = this.#statement(
      "INSERT INTO passages (source, position, address, speaker, title, text, time, terms, titleTerms, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ).run(
      source,
      position,
      address ?? null,
      speaker ?? null,
      title ?? null,
      text,
      Number.isNaN(at) ? null : at,
      body.join(" "),
      heading.join(" "),
      body.length,
    )
    this.#statement("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)").run(
      lastInsertRowid,
      heading.map(tokenOf).join(" "),
      body.map(tokenOf).join(" "),
    )
  }

  #remove(where: string, ...values: readonly (string | number)[]): void {
    this.#statement(`DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE ${where})`).run(...values)
    this.#statement(`DELETE FROM passages WHERE ${where}`).run(...values)
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

interface Place {
  readonly source: string
  readonly position: number
}

/** SQLite splits text by its own, older Unicode tables. In hex, every term is one word to it. */
const tokenOf = (stem: string) => (/^[a-z0-9]+$/.test(stem) ? stem : `u${Buffer.from(stem).toString("hex")}`)
const anyOf = (stems: readonly string[]) => stems.map((stem) => `"${tokenOf(stem)}"`).join(" OR ")
const listed = (terms: unknown): readonly string[] => (terms === "" ? [] : String(terms).split(" "))

function indexedFrom(row: Record<string, unknown>): Indexed {
  return {
    source: String(row.source),
    position: Number(row.position),
    text: String(row.text),
    ...(row.address === null ? {} : { address: String(row.address) }),
    ...(row.speaker === null ? {} : { speaker: String(row.speaker) }),
    ...(row.title === null ? {} : { title: String(row.title) }),
    ...(row.time === null ? {} : { time: new Date(Number(row.time)).toISOString() }),
    terms: listed(row.terms),
    titleTerms: listed(row.titleTerms),
  }
}
