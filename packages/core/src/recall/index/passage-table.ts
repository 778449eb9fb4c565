/**
 * The tables of a passage store in SQLite. Most facts are packed, many passages in one value, so that opening a large index takes
 * milliseconds. The columns `isSaid` and `mark` keep older names.
 */
import { FACTS, type NewPassage, type StoredPassage } from "../../journal/passage-store.ts"
import { hashOf } from "../vectors/text-hash.ts"
import type { IndexShape, SqliteIndexFile } from "./index-file.ts"
import { OFTEN, PREFIX, TWICE } from "./tokens.ts"

export const SHAPE: IndexShape = {
  version: 9,
  tables: ["vocabulary", "words", "sources", "passages", "packs", "removals", "vectors"],
  create: `
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL, turn INTEGER NOT NULL, uuid TEXT NOT NULL, blocks TEXT NOT NULL,
    kind TEXT NOT NULL, isSaid INTEGER NOT NULL, label TEXT, time INTEGER, start INTEGER NOT NULL, length INTEGER NOT NULL,
    terms INTEGER NOT NULL, facts INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE INDEX passages_by_source ON passages (source);
  CREATE TABLE sources (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, mark TEXT NOT NULL);
  CREATE TABLE packs (last INTEGER PRIMARY KEY, facts BLOB NOT NULL);
  CREATE TABLE vectors (hash TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE removals (count INTEGER NOT NULL);
  INSERT INTO removals VALUES (0);
  CREATE VIRTUAL TABLE words USING fts5 (body, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '_'");
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);`,
}

export function sourceId(file: SqliteIndexFile, name: string): number | undefined {
  const id = file.statement("SELECT id FROM sources WHERE name = ?").get(name)?.id
  return id === undefined ? undefined : Number(id)
}

export function addSource(file: SqliteIndexFile, name: string, position: string): number {
  const added = file.statement("INSERT INTO sources (name, mark) VALUES (?, ?)").run(name, position)
  return Number(added.lastInsertRowid)
}

/** Token prefix of the token that every passage of a source has. No term has an underscore. */
const SOURCE = "s_"
export const sourceToken = (id: number) => `${SOURCE}${id}`

/** Adds passages. A turn starts with another message of the user or the assistant. */
export function addPassages(file: SqliteIndexFile, passages: readonly NewPassage[], source: number): void {
  if (passages.length === 0) return
  const last = file
    .statement("SELECT uuid, turn FROM passages WHERE source = ? AND isSaid = 1 ORDER BY id DESC LIMIT 1")
    .get(source)
  let [turn, speaking] = [Number(last?.turn ?? 0), String(last?.uuid ?? "")]
  for (const { uuid, blocks, kind, isDialogue, facts, label, time, start, length, terms, tokens, text } of passages) {
    if (isDialogue && uuid !== speaking) {
      turn++
      speaking = uuid
    }
    const values = [
      source,
      turn,
      uuid,
      blocks,
      kind,
      Number(isDialogue),
      label ?? null,
      Number.isNaN(time) ? null : time,
    ]
    const { lastInsertRowid } = file
      .statement(
        "INSERT INTO passages (source, turn, uuid, blocks, kind, isSaid, label, time, start, length, terms, facts, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(...values, start, length, terms, facts, text)
    file
      .statement("INSERT INTO words (rowid, body) VALUES (?, ?)")
      .run(lastInsertRowid, [sourceToken(source), ...tokens].join(" "))
  }
}

export function removePassages(file: SqliteIndexFile, source: number): void {
  file.statement("UPDATE removals SET count = count + 1").run()
  removeVectors(file, source)
  const range = file.statement("SELECT min(id) AS first, max(id) AS last FROM passages WHERE source = ?").get(source)
  file.statement("DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE source = ?)").run(source)
  file.statement("DELETE FROM passages WHERE source = ?").run(source)
  if (range?.first != null) repack(file, { first: Number(range.first), last: Number(range.last) })
}

/**
 * Removes vectors together with their texts, because a vector reveals what a text is about. If another passage has the text, the vector
 * is computed again.
 */
function removeVectors(file: SqliteIndexFile, source: number): void {
  if (!file.statement("SELECT 1 FROM vectors LIMIT 1").get()) return
  const remove = file.statement("DELETE FROM vectors WHERE hash = ?")
  for (const { text } of file.statement("SELECT text FROM passages WHERE source = ?").all(source))
    remove.run(hashOf(String(text)))
}

export const ROW = "id, source, uuid, blocks, facts, label, time, start, length, text"

export function rowFrom({ label, time, ...row }: Row): StoredPassage {
  return {
    ...(row as Omit<StoredPassage, "label" | "time">),
    ...(label === null ? {} : { label: String(label) }),
    time: time === null ? Number.NaN : Number(time),
  }
}

/** Selects all terms. Other tokens are excluded by ranges of their order: they occur in many passages, and SQLite would count those. */
export const TERMS_BETWEEN = ["", TWICE, OFTEN, PREFIX, SOURCE].map((kind, at, kinds) => {
  const next = kinds[at + 1]
  const after = kind === "" ? "term > ''" : `term > '${kind}~'`
  return `SELECT group_concat(term, char(10)) AS terms FROM vocabulary WHERE ${after}${next === undefined ? "" : ` AND term < '${next}'`}`
})

/** Passages in one pack. Passages after the last pack are read one by one. */
const PACK_SIZE = 256
/** When an index without packs is packed, at most this many at a time: about 20 ms. */
const MAX_PACKS_AT_ONCE = 32
const ROWS = "SELECT id, source, turn, facts, terms, length, time FROM passages WHERE id > ? AND id <= ? ORDER BY id"

/** Packs new passages. Call it inside the transaction that adds them. */
export function packFacts(file: SqliteIndexFile): void {
  for (let packs = 0; packs < MAX_PACKS_AT_ONCE; packs++) {
    const from = lastPacked(file)
    // AUTOINCREMENT: within a smaller distance of ids there cannot be enough passages
    const largest = Number(file.statement("SELECT max(id) AS id FROM passages").get()?.id ?? 0)
    if (largest - from < PACK_SIZE) return
    const rows = file.statement(`${ROWS} LIMIT ${PACK_SIZE}`).all(from, largest)
    if (rows.length < PACK_SIZE) return
    file.statement("INSERT INTO packs (last, facts) VALUES (?, ?)").run(Number(rows.at(-1)!.id), pack(rows))
  }
}

/** Rebuilds the packs of this range, from which passages were removed. */
function repack(file: SqliteIndexFile, { first, last }: { readonly first: number; readonly last: number }): void {
  let from = Number(file.statement("SELECT max(last) AS id FROM packs WHERE last < ?").get(first)?.id ?? 0)
  for (const { last: to } of file.statement("SELECT last FROM packs WHERE last >= ? ORDER BY last").all(first)) {
    if (from >= last) return
    const rows = file.statement(ROWS).all(from, Number(to))
    file.statement("UPDATE packs SET facts = ? WHERE last = ?").run(pack(rows), Number(to))
    from = Number(to)
  }
}

type Row = Record<string, unknown>

const valuesOf = ({ id, source, turn, facts, terms, length, time }: Row) =>
  [id, source, turn, facts, terms, length, time ?? Number.NaN].map(Number)

const pack = (rows: readonly Row[]) => new Uint8Array(Float64Array.from(rows.flatMap(valuesOf)).buffer)

/** The facts of the passages after this one, in order. */
export function factsAfter(file: SqliteIndexFile, passage: number): readonly ArrayLike<number>[] {
  const packs =
    passage > 0
      ? []
      : file
          .statement("SELECT facts FROM packs ORDER BY last")
          .all()
          .map(({ facts }) => new Float64Array((facts as Uint8Array).slice().buffer))
  const packed = packs.findLast(({ length }) => length > 0)
  const last = packed ? packed[packed.length - FACTS]! : passage
  const rest = file.statement(ROWS).all(last, Number.MAX_SAFE_INTEGER)
  return [...packs, rest.flatMap(valuesOf)]
}

const lastPacked = (file: SqliteIndexFile) => Number(file.statement("SELECT max(last) AS id FROM packs").get()?.id ?? 0)
