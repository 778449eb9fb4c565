/** Finds the passages with a literal text, newest first. Reads only those that have its stop prefixes. */
import type { SqliteIndexFile } from "./index-file.ts"
import { sourceToken } from "./passage-table.ts"

export interface LiteralQuery {
  readonly text: string
  /** Tokens that every passage with the text has. */
  readonly tokens: readonly string[]
  /** Number of the source. Default: all sources. */
  readonly only: number | undefined
  readonly fits: (id: number) => boolean
  readonly max: number
}

const IN_ALL = "SELECT id FROM passages WHERE id < ? AND instr(text, ?) > 0 ORDER BY id DESC LIMIT ?"
const IN_LISTED =
  "SELECT words.rowid AS id FROM words CROSS JOIN passages ON passages.id = words.rowid " +
  "WHERE words MATCH ? AND words.rowid < ? AND instr(text, ?) > 0 ORDER BY words.rowid DESC LIMIT ?"

export function findPassagesWith(
  file: SqliteIndexFile,
  { text, tokens, only, fits, max }: LiteralQuery,
): readonly number[] {
  const all = [...tokens, ...(only === undefined ? [] : [sourceToken(only)])]
  const match = all.map((token) => `"${token}"`).join(" AND ")
  const next = (before: number, limit: number) =>
    match === ""
      ? file.statement(IN_ALL).all(before, text, limit)
      : file.statement(IN_LISTED).all(match, before, text, limit)
  const found: number[] = []
  // many passages may have the text but not fit
  for (let [before, limit] = [Number.MAX_SAFE_INTEGER, max]; found.length < max; limit *= 2) {
    const ids = next(before, limit).map(({ id }) => Number(id))
    found.push(...ids.filter(fits))
    if (ids.length < limit) break
    before = ids.at(-1)!
  }
  return found.slice(0, max)
}
