/**
 * A full-text index of passages: turns of past conversations, or memories. SQLite lists the passages with each term, `candidatesFrom` chooses
 * those worth reading, `rankPassages` orders them. The index holds nothing that cannot be rebuilt. Adding costs what is new.
 */
import { termsOf } from "../base/terms.ts"
import { candidatesFrom } from "./candidates.ts"
import type { Extension, FollowingIndex } from "./followed-journals.ts"
import { IndexFile, type IndexShape, tokenOf } from "./index-file.ts"
import { type NamedTime, timeNamedIn } from "./named-time.ts"
import type { Passage } from "./passage.ts"
import { type Found, type Indexed, type Question, type Ranked, rankPassages, WEIGHTS, type Weights } from "./ranking.ts"
import { type Wanted, wantedTerms } from "./wanted.ts"

/** In 1M tokens, 3,000 of them find the same answers. */
const CANDIDATES = 100
/** On both sides of a candidate: in a dialogue, the words that a question repeats are often in the turn before the answer. */
const NEIGHBOURS = 2
const NEIGHBOUR_WEIGHT = 0.3 // of the first stage, which does not know what asks and what answers
/** Passages that contain a term of the question, over all its terms. The rarest terms come first; those that do not fit are left to the ranking. */
const MOST_LISTED = 40_000 // about 6 ms
const FREQUENT = 200 // passages; rarer terms are counted in a fraction of a millisecond
const STALE_SHARE = 0.05

const SHAPE: IndexShape = {
  version: 2,
  tables: ["vocabulary", "words", "totals", "marks", "passages"],
  create: `
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, position INTEGER NOT NULL, address TEXT, speaker TEXT, title TEXT, text TEXT NOT NULL,
    time INTEGER, terms TEXT NOT NULL, titleTerms TEXT NOT NULL, length INTEGER NOT NULL, isQuestion INTEGER NOT NULL, UNIQUE (source, position));
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
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);`,
}

export class TextIndex implements FollowingIndex<Omit<Passage, "source" | "position">> {
  readonly #file: IndexFile
  #frequent: { readonly at: number; readonly counts: Map<string, number> } = { at: 0, counts: new Map() }

  /** `path`: a file, or `:memory:`. */
  constructor(path: string) {
    this.#file = new IndexFile(path, SHAPE)
  }

  /** Adds passages, all or none. One with the same source and position is replaced. */
  add(passages: readonly Passage[]): void {
    this.#file.inTransaction(() => {
      for (const passage of passages) {
        this.#remove("source = ? AND position = ?", passage.source, passage.position)
        this.#insert(passage)
      }
    })
  }

  /** Adds the next passages of a source and moves its mark. Says no if another process has moved the mark since. */
  extend({ source, passages, from, to, isRestart = false }: Extension<Omit<Passage, "source" | "position">>): boolean {
    return this.#file.inTransaction(() => {
      if (this.mark(source) !== from) return false
      if (isRestart) this.#remove("source = ?", source)
      const last = this.#file.statement("SELECT max(position) AS last FROM passages WHERE source = ?").get(source)?.last
      let position = last === null || last === undefined ? 0 : Number(last) + 1
      for (const passage of passages) this.#insert({ ...passage, source, position: position++ })
      this.#file.statement("INSERT OR REPLACE INTO marks (source, mark) VALUES (?, ?)").run(source, to)
      return true
    })
  }

  remove(source: string): void {
    this.#file.inTransaction(() => {
      this.#remove("source = ?", source)
      this.#file.statement("DELETE FROM marks WHERE source = ?").run(source)
    })
  }

  marks(): ReadonlyMap<string, string> {
    return new Map(
      this.#file
        .statement("SELECT source, mark FROM marks")
        .all()
        .map((row) => [String(row.source), String(row.mark)]),
    )
  }

  mark(source: string): string | undefined {
    const row = this.#file.statement("SELECT mark FROM marks WHERE source = ?").get(source)
    return row === undefined ? undefined : String(row.mark)
  }

  /** The passages that answer a question, the best first. None where nothing fits. */
  search(question: Question): readonly Found[] {
    const totals = this.#file.statement("SELECT passages, terms FROM totals").get()!
    const count = Number(totals.passages)
    if (count === 0) return []
    const weights = { ...WEIGHTS, ...question.weights }
    const time = timeNamedIn(question.text, question.now)
    const vocabulary = { count, documentsWith: this.#frequencies(count) }
    const wanted = wantedTerms(question, { vocabulary, time, contextWeight: weights.context })
    const ranked = rankPassages(question, {
      passages: this.#around(this.#candidates(wanted, { time, weights })),
      ...{ wanted, time, weights, averageLength: Number(totals.terms) / count },
    })
    return this.#withTexts(ranked)
  }

  close(): void {
    this.#file.close()
  }

  #candidates(wanted: readonly Wanted[], { time, weights }: { time: NamedTime | undefined; weights: Weights }) {
    const list = "SELECT group_concat(rowid) AS ids FROM words WHERE words MATCH ?"
    let listed = 0
    const lists = wanted
      .filter(({ isAsked, documents }) => isAsked && documents > 0)
      .filter(({ documents }, at) => {
        listed += documents
        return at === 0 || listed <= MOST_LISTED
      })
      .map(({ stem, weight }) => ({ weight, passages: this.#file.ids(list, `"${tokenOf(stem)}"`) }))
    const inTime = "SELECT group_concat(id) AS ids FROM passages WHERE time >= ? AND time < ?"
    return candidatesFrom({
      lists,
      raised: time ? [{ factor: weights.time, passages: this.#file.ids(inTime, time.from, time.to) }] : [],
      neighbour: NEIGHBOUR_WEIGHT,
      largest: Number(this.#file.statement("SELECT max(id) AS id FROM passages").get()!.id),
      limit: CANDIDATES,
    })
  }

  /** The candidates and their neighbours, each once. */
  #around(candidates: readonly number[]): readonly Indexed[] {
    const rows = this.#file
      .statement(
        `SELECT id, source, position, speaker, time, terms, titleTerms, length, isQuestion FROM passages WHERE id IN (
        SELECT near.id FROM json_each(?) JOIN passages AS found ON found.id = value JOIN passages AS near
        ON near.source = found.source AND near.position BETWEEN found.position - ${NEIGHBOURS} AND found.position + ${NEIGHBOURS})`,
      )
      .all(JSON.stringify(candidates))
    return rows.map(indexedFrom)
  }

  #withTexts(ranked: readonly Ranked[]): readonly Found[] {
    const rows = this.#file
      .statement("SELECT id, address, title, text FROM passages WHERE id IN (SELECT value FROM json_each(?))")
      .all(JSON.stringify(ranked.map(({ passage }) => passage.id)))
    const texts = new Map(rows.map((row) => [Number(row.id), row]))
    return ranked.map(({ passage, ...rest }) => ({ passage: passageFrom(passage, texts.get(passage.id)!), ...rest }))
  }

  /** To count a frequent term takes long, and a few passages more or less change nothing. So those counts are kept for a while. */
  #frequencies(count: number): (stem: string) => number {
    if (Math.abs(count - this.#frequent.at) > STALE_SHARE * count) this.#frequent = { at: count, counts: new Map() }
    const { counts } = this.#frequent
    return (stem) => {
      const known = counts.get(stem)
      if (known !== undefined) return known
      const row = this.#file.statement("SELECT doc FROM vocabulary WHERE term = ?").get(tokenOf(stem))
      const documents = Number(row?.doc ?? 0)
      if (documents >= FREQUENT) counts.set(stem, documents)
      return documents
    }
  }

  #insert({ source, position, address, speaker, title, text, time }: Passage): void {
    const body = termsOf(text).map(({ stem }) => stem)
    const heading = [speaker ?? "", title ?? ""].flatMap(termsOf).map(({ stem }) => stem)
    const at = time === undefined ? Number.NaN : Date.parse(time)
    const { lastInsertRowid } = this.#file
      .statement(
        "INSERT INTO passages (source, position, address, speaker, title, text, time, terms, titleTerms, length, isQuestion) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(
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
        Number(/[?？]/.test(text)),
      )
    this.#file
      .statement("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)")
      .run(lastInsertRowid, heading.map(tokenOf).join(" "), body.map(tokenOf).join(" "))
  }

  #remove(where: string, ...values: readonly (string | number)[]): void {
    this.#file.statement(`DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE ${where})`).run(...values)
    this.#file.statement(`DELETE FROM passages WHERE ${where}`).run(...values)
  }
}

function indexedFrom(row: Record<string, unknown>): Indexed {
  return {
    id: Number(row.id),
    source: String(row.source),
    position: Number(row.position),
    ...(row.speaker === null ? {} : { speaker: String(row.speaker) }),
    ...(row.time === null ? {} : { time: Number(row.time) }),
    terms: String(row.terms),
    titleTerms: String(row.titleTerms),
    length: Number(row.length),
    isQuestion: row.isQuestion === 1,
  }
}

function passageFrom({ source, position, speaker, time }: Indexed, row: Record<string, unknown>): Passage {
  return {
    source,
    position,
    text: String(row.text),
    ...(row.address === null ? {} : { address: String(row.address) }),
    ...(speaker === undefined ? {} : { speaker }),
    ...(row.title === null ? {} : { title: String(row.title) }),
    ...(time === undefined ? {} : { time: new Date(time).toISOString() }),
  }
}
