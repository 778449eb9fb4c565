/**
 * Which passages have a term, as the index lists them: at least once, twice, four times. What was asked for is kept, and follows the index
 * as it grows: a list is read once, and then costs what is new.
 */

import type { Passage } from "../passages/passage.ts"
import { countedTerms } from "../passages/passage-terms.ts"
import { toldIn } from "../passages/told.ts"
import { type IndexFile, isPlainTerm, tokenOf } from "./index-file.ts"

/** Numbers that are kept, 4 MB. */
const MOST_KEPT = 1_000_000
/** If more passages than this are new, their terms are not looked at one by one. */
const MOST_ADDED = 200
/** Terms that begin with, or contain, a word that no passage has. */
const MOST_SIMILAR = 20
const MOST_CONTAINING = 500
/** A label, such as the title of a memory, says what the text is about. */
const LABEL_COUNT = 2

interface Lists {
  readonly ids: Uint32Array
  /** Those that have it at least twice, and at least four times. */
  readonly twice: Uint32Array
  readonly often: Uint32Array
  /** Those that have it in what the speaker tells of themselves. */
  readonly told: Uint32Array
}

export class TermLists {
  readonly #file: IndexFile
  /** By token, the one that was asked for last at the end. */
  readonly #kept = new Map<string, Uint32Array>()
  readonly #documents = new Map<string, number>()
  #size = 0
  /** All terms, one in a line, in any order. A term that was added later may be there twice. */
  #vocabulary: string | undefined

  constructor(file: IndexFile) {
    this.#file = file
  }

  clear(): void {
    this.#kept.clear()
    this.#documents.clear()
    this.#size = 0
    this.#vocabulary = undefined
  }

  /** Takes in the passages with these numbers, without the first. */
  add(after: number, largest: number): void {
    const isEmpty = this.#documents.size + this.#kept.size === 0 && this.#vocabulary === undefined
    if (after === largest || isEmpty) return
    if (largest - after > MOST_ADDED) {
      this.clear()
      return
    }
    const rows = this.#file
      .statement("SELECT id, source, kind, isSaid, label, text FROM passages WHERE id > ? AND id <= ? ORDER BY id")
      .all(after, largest)
    const added = new Map<string, number[]>()
    for (const { id, source, kind, isSaid, label, text } of rows) {
      const passage = { kind: kind as Passage["kind"], isSaid: isSaid === 1, text: String(text) }
      const { counts } = countedTerms(passage.text)
      const of = { source: Number(source), ...(label === null ? {} : { label: String(label) }) }
      const tokens = tokensOf(counts, { ...of, told: toldIn(passage) })
      if (this.#vocabulary !== undefined)
        this.#vocabulary += tokens.flatMap((token) => (token.includes("_") ? [] : `${token}\n`)).join("")
      for (const token of tokens) {
        if (this.#kept.has(token)) added.set(token, [...(added.get(token) ?? []), Number(id)])
        const documents = this.#documents.get(token)
        if (documents !== undefined) this.#documents.set(token, documents + 1)
      }
    }
    for (const [token, ids] of added) {
      const before = this.#kept.get(token) // another one may have taken its room
      if (before) this.#keep(token, joined(before, ids))
    }
  }

  documentsWith(term: string): number {
    const token = tokenOf(term)
    const known = this.#documents.get(token)
    if (known !== undefined) return known
    const row = this.#file.statement("SELECT doc FROM vocabulary WHERE term = ?").get(token)
    const documents = Number(row?.doc ?? 0)
    this.#documents.set(token, documents)
    return documents
  }

  /** Terms that begin with this one, or contain it. */
  similarTo(term: string, isName: boolean): readonly string[] {
    if (!isPlainTerm(term) || term.length < 3) return []
    const beginning = this.#file
      .statement(`SELECT term FROM vocabulary WHERE term >= ? AND term < ? ORDER BY doc LIMIT ${MOST_SIMILAR}`)
      .all(term, `${term}~`)
    if (beginning.length > 0 || !isName) return beginning.map((row) => String(row.term))
    return this.#containing(term)
      .map((each) => ({ each, documents: this.documentsWith(each) }))
      .sort((a, b) => a.documents - b.documents || (a.each < b.each ? -1 : 1))
      .slice(0, MOST_SIMILAR)
      .map(({ each }) => each)
  }

  /** Searched in one text: the vocabulary itself would be read as a whole for every name that no passage has. */
  #containing(part: string): readonly string[] {
    this.#vocabulary ??= `\n${TERMS_BETWEEN.map((range) => this.#file.statement(range).get()?.terms ?? "").join("\n")}\n`
    const found = new Set<string>()
    for (let at = this.#vocabulary.indexOf(part); at >= 0 && found.size < MOST_CONTAINING; ) {
      const end = this.#vocabulary.indexOf("\n", at)
      found.add(copyOf(this.#vocabulary.slice(this.#vocabulary.lastIndexOf("\n", at) + 1, end)))
      at = this.#vocabulary.indexOf(part, end)
    }
    return [...found]
  }

  /** `only`: of this source. */
  idsWith(term: string, only: number | undefined): Uint32Array {
    return this.#listed(tokenOf(term), only)
  }

  /** `isForSpeaker`: where the speaker tells of themselves is listed too. */
  listsOf(term: string, { only, isForSpeaker }: { only: number | undefined; isForSpeaker: boolean }): Lists {
    const token = tokenOf(term)
    const twice = this.#listed(TWICE + token, only)
    return {
      ids: this.#listed(token, only),
      twice,
      often: twice.length === 0 ? NONE : this.#listed(OFTEN + token, only),
      told: isForSpeaker ? this.#listed(TOLD + token, only) : NONE,
    }
  }

  #listed(token: string, only: number | undefined): Uint32Array {
    const match = "SELECT CAST(group_concat(rowid) AS BLOB) AS ids FROM words WHERE words MATCH ?"
    if (only !== undefined) return this.#file.ids(match, `"${token}" AND "${sourceToken(only)}"`)
    const ids = this.#kept.get(token) ?? this.#file.ids(match, `"${token}"`)
    this.#keep(token, ids)
    return ids
  }

  /** What was asked for long ago makes room. */
  #keep(token: string, ids: Uint32Array): void {
    this.#forget(token)
    for (const oldest of this.#kept.keys()) {
      if (this.#size + ids.length < MOST_KEPT) break
      this.#forget(oldest)
    }
    this.#size += ids.length + 1
    this.#kept.set(token, ids)
  }

  #forget(token: string): void {
    const ids = this.#kept.get(token)
    if (ids) this.#size -= ids.length + 1
    this.#kept.delete(token)
  }
}

const NONE = new Uint32Array(0)

function joined(ids: Uint32Array, more: readonly number[]): Uint32Array {
  const all = new Uint32Array(ids.length + more.length)
  all.set(ids)
  all.set(more, ids.length)
  return all
}

/** A slice keeps the whole text in memory, and a term is kept for long while the vocabulary grows into another one. */
const copyOf = (slice: string): string => Buffer.from(slice).toString()

// no term has an underscore
const TWICE = "2_"
const OFTEN = "4_"
const TOLD = "t_"
const BEGINNING = "b_"
const SOURCE = "s_"
export const beginningToken = (beginning: string) => BEGINNING + beginning
export const sourceToken = (id: number) => `${SOURCE}${id}`

/** All terms. The other tokens are left out by their order: they are in many passages, and SQLite would count those. */
const TERMS_BETWEEN = ["", TWICE, OFTEN, BEGINNING, SOURCE, TOLD].map((kind, at, kinds) => {
  const next = kinds[at + 1]
  const after = kind === "" ? "term > ''" : `term > '${kind}~'`
  return `SELECT group_concat(term, char(10)) AS terms FROM vocabulary WHERE ${after}${next === undefined ? "" : ` AND term < '${next}'`}`
})

/**
 * What the index has of a passage: its source, each term, and the term once more if it is there at least twice, or at least four times: the
 * index lists passages, and no counts. A term of what the speaker says of themselves is there once more too.
 */
export function tokensOf(
  counts: ReadonlyMap<string, number>,
  { source, label, told }: { readonly source: number; readonly label?: string | undefined; readonly told: string },
): readonly string[] {
  const all = new Map(counts)
  if (label !== undefined)
    for (const term of countedTerms(label).counts.keys()) all.set(term, (all.get(term) ?? 0) + LABEL_COUNT)
  const tokens = [...all].flatMap(([term, count]) => {
    const token = tokenOf(term)
    return [token, ...(count > 1 ? [TWICE + token] : []), ...(count > 3 ? [OFTEN + token] : [])]
  })
  const toldTokens = told === "" ? [] : [...countedTerms(told).counts.keys()].map((term) => TOLD + tokenOf(term))
  return [sourceToken(source), ...tokens, ...toldTokens]
}
