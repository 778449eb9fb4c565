/**
 * From the table of passages to the columns that the ranking uses. Most of the facts are packed, many passages in one value, so that to
 * open a large index takes milliseconds.
 */

import { KINDS } from "../passages/passage.ts"
import type { PassageColumns } from "../passages/passage-columns.ts"
import type { IndexFile } from "./index-file.ts"

/** Passages in one pack. The ones after the last pack are read one by one. */
const PACKED = 256
/** To pack an index that had none, a few at a time: about 20 ms. */
const MOST_PACKS_AT_ONCE = 32
const FIELDS = 7
const ROWS = "SELECT id, source, turn, facts, terms, length, time FROM passages WHERE id > ? AND id <= ? ORDER BY id"

/** Packs what is new in the table. Call it inside the transaction that adds it. */
export function packFacts(file: IndexFile): void {
  for (let packs = 0; packs < MOST_PACKS_AT_ONCE; packs++) {
    const from = lastPacked(file)
    // AUTOINCREMENT: a smaller distance cannot hold enough of them
    const largest = Number(file.statement("SELECT max(id) AS id FROM passages").get()?.id ?? 0)
    if (largest - from < PACKED) return
    const rows = file.statement(`${ROWS} LIMIT ${PACKED}`).all(from, largest)
    if (rows.length < PACKED) return
    file.statement("INSERT INTO packs (last, facts) VALUES (?, ?)").run(Number(rows.at(-1)!.id), packed(rows))
  }
}

/** Packs again what has passages of this stretch in it: some of them were removed. */
export function packAgain(file: IndexFile, { first, last }: { readonly first: number; readonly last: number }): void {
  let from = Number(file.statement("SELECT max(last) AS id FROM packs WHERE last < ?").get(first)?.id ?? 0)
  for (const { last: to } of file.statement("SELECT last FROM packs WHERE last >= ? ORDER BY last").all(first)) {
    if (from >= last) return
    const rows = file.statement(ROWS).all(from, Number(to))
    file.statement("UPDATE packs SET facts = ? WHERE last = ?").run(packed(rows), Number(to))
    from = Number(to)
  }
}

type Row = Record<string, unknown>

const valuesOf = ({ id, source, turn, facts, terms, length, time }: Row) =>
  [id, source, turn, facts, terms, length, time ?? Number.NaN].map(Number)

const packed = (rows: readonly Row[]) => new Uint8Array(Float64Array.from(rows.flatMap(valuesOf)).buffer)

/** Adds the passages that are new since to the columns. */
export function loadFacts(file: IndexFile, columns: PassageColumns): void {
  if (columns.largest === 0)
    for (const { facts } of file.statement("SELECT facts FROM packs ORDER BY last").iterate())
      addAll(columns, new Float64Array((facts as Uint8Array).slice().buffer))
  for (const row of file.statement(ROWS).iterate(columns.largest, Number.MAX_SAFE_INTEGER))
    addAll(columns, valuesOf(row))
}

function addAll(columns: PassageColumns, values: ArrayLike<number>): void {
  for (let at = 0; at < values.length; at += FIELDS) {
    const facts = values[at + 3]!
    columns.add(values[at]!, {
      source: values[at + 1]!,
      turn: values[at + 2]!,
      kind: KINDS[facts >> 2]!,
      isSaid: (facts & 2) > 0,
      isQuestion: (facts & 1) > 0,
      length: values[at + 4]!,
      blockLength: values[at + 5]!,
      time: values[at + 6]!,
    })
  }
}

const lastPacked = (file: IndexFile) => Number(file.statement("SELECT max(last) AS id FROM packs").get()?.id ?? 0)
