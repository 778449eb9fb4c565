/**
 * A full-text index of passages: every block of past conversations, or memories. SQLite lists the passages with each term, the ranking
 * orders them. Names are found whole, by their parts and by their beginning. The index holds nothing that cannot be rebuilt. Adding costs
 * what is new.
 */
import {
  type Choices,
  choicesFrom,
  chooseFrom,
  NOTHING_FOUND,
  type RankedText,
  type SearchAnswer,
} from "../answer/choose.ts"
import { coverageOf, type LookedFor, lookedFor, neededFor, type Vocabulary } from "../answer/looked-for.ts"
import { type Question, type RankedPassage, rankPassages, type TermList, WEIGHTS } from "../answer/ranking.ts"
import { type BlockAround, blockAround, type Passage } from "../passages/passage.ts"
import { PassageColumns } from "../passages/passage-columns.ts"
import { IndexFile } from "./index-file.ts"
import { passagesWith } from "./literal-search.ts"
import {
  addPassages,
  addSource,
  COLUMNS,
  loadFacts,
  packFacts,
  passageFrom,
  removePassages,
  SHAPE,
  sourceId,
} from "./passage-table.ts"
import { TermLists } from "./term-lists.ts"

/** Passages whose texts are read and compared with the question. */
const READ = 100
/** Passages that have a term of the question, over all its terms. The rarest terms come first. */
const MOST_LISTED = 50_000 // about 8 ms
/** Passages whose texts are kept for the next question: about 1 MB. */
const MOST_KEPT_ROWS = 2_000
/** Passages that are listed for the words of the context: they only help to choose. */
const MOST_CONTEXT_LISTED = 5_000

/** A step from one state of a source to the next. A mark is any text by which the owner knows how far it has read. */
export interface Extension {
  readonly source: string
  readonly passages: readonly Passage[]
  /** The mark that the caller saw. `undefined`: the source is new. */
  readonly from: string | undefined
  /** Leaves out what was indexed before. */
  readonly isRestart?: boolean
  readonly to: string
}

export class PassageIndex {
  readonly #file: IndexFile
  #columns = new PassageColumns()
  #removals = 0
  #marks: { readonly at: number; readonly all: Map<string, string> } | undefined
  #names = new Map<number, string>()
  /** By passage. What a conversation asks about, it asks about again. */
  readonly #rows = new Map<number, TextRow>()
  readonly #terms: TermLists

  /** `path`: a file, or `:memory:`. */
  constructor(path: string) {
    this.#file = new IndexFile(path, SHAPE)
    this.#terms = new TermLists(this.#file)
  }

  /** Says no if another process has moved the mark since. */
  extend(step: Extension): boolean {
    return this.extendAll([step])[0]!
  }

  /** Several steps in one transaction, of different sources. */
  extendAll(steps: readonly Extension[]): readonly boolean[] {
    const stored = this.#file.inTransaction(() => {
      const each = steps.map((step) => this.#extended(step))
      packFacts(this.#file)
      return each
    })
    for (const [at, { source, to }] of steps.entries()) if (stored[at]) this.#marks?.all.set(source, to)
    return stored
  }

  #extended({ source, passages, from, to, isRestart = false }: Extension): boolean {
    const known = this.#file.statement("SELECT id, mark FROM sources WHERE name = ?").get(source)
    if ((known === undefined ? undefined : String(known.mark)) !== from) return false
    if (isRestart && known) removePassages(this.#file, Number(known.id))
    const id = known ? Number(known.id) : addSource(this.#file, source, to)
    this.#file.statement("UPDATE sources SET mark = ? WHERE id = ?").run(to, id)
    addPassages(this.#file, passages, id)
    return true
  }

  /** Takes these passages in place of the ones that the sources had. All or none. `marks`: by source. */
  replace(sources: ReadonlyMap<string, readonly Passage[]>, marks: ReadonlyMap<string, string> = new Map()): void {
    this.#file.inTransaction(() => {
      for (const [source, passages] of sources) {
        const known = sourceId(this.#file, source)
        const mark = marks.get(source) ?? ""
        if (known !== undefined) removePassages(this.#file, known)
        const id = known ?? addSource(this.#file, source, mark)
        this.#file.statement("UPDATE sources SET mark = ? WHERE id = ?").run(mark, id)
        addPassages(this.#file, passages, id)
        this.#marks?.all.set(source, mark)
      }
      packFacts(this.#file)
    })
  }

  remove(source: string): void {
    this.#file.inTransaction(() => {
      const id = sourceId(this.#file, source)
      if (id === undefined) return
      removePassages(this.#file, id)
      this.#file.statement("DELETE FROM sources WHERE id = ?").run(id)
      this.#marks?.all.delete(source)
    })
  }

  /** They are read again once another process has written. */
  marks(): ReadonlyMap<string, string> {
    const at = this.#file.changes()
    if (this.#marks?.at !== at) {
      const rows = this.#file.statement("SELECT name, mark FROM sources").all()
      this.#marks = { at, all: new Map(rows.map((row) => [String(row.name), String(row.mark)])) }
    }
    return this.#marks.all
  }

  /** The passages that answer a question, the best first. */
  search(question: Question): SearchAnswer {
    return this.#file.inOneState(() => {
      const ranked = this.#ranked(question)
      return ranked ? chooseFrom(ranked.texts, question, ranked.asked) : NOTHING_FOUND
    })
  }

  /** Only which passages answer it, without them. */
  choose(question: Question): Choices {
    return this.#file.inOneState(() => {
      const ranked = this.#ranked(question)
      return ranked ? choicesFrom(ranked.texts, question, ranked.asked) : { chosen: [], more: 0, isFitting: false }
    })
  }

  #ranked(question: Question): { readonly texts: readonly RankedText[]; readonly asked: LookedFor } | undefined {
    const columns = this.#upToDate()
    const only = question.source === undefined ? undefined : sourceId(this.#file, question.source)
    if (columns.count === 0 || (question.source !== undefined && only === undefined)) return undefined
    const weights = { ...WEIGHTS, ...question.weights }
    const asked = lookedFor(question, this.#vocabulary(columns.count), weights)
    const fits = this.#filter(question, only)
    const { prior, leastCoverage = 0 } = question
    const needed = leastCoverage > 0 ? neededFor(leastCoverage, asked) : undefined
    if (needed?.size === 0 && asked.words.length > 0) return undefined // no list need be read
    const ranked =
      asked.words.length === 0
        ? this.#literal(asked.text, { only, fits })
        : rankPassages({
            ...{ columns, weights, fits, isForAnswer: asked.isForAnswer },
            ...{ time: asked.time, lists: this.#lists(asked, only), leastShare: leastCoverage },
            ...(needed ? { needed } : {}),
            share: (mask) => coverageOf(mask, asked),
            prior: prior ? (id) => prior(this.#nameOf(columns.sources[id]!)) : () => 1,
          })
    return { texts: this.#withTexts(ranked.slice(0, READ), question), asked }
  }

  /** The sources that have such a message. */
  sourcesWith(isWanted: (uuid: string) => boolean): ReadonlySet<string> {
    const rows = this.#file.statement("SELECT DISTINCT source, uuid FROM passages").iterate()
    const sources = new Set<number>()
    for (const { source, uuid } of rows) if (isWanted(String(uuid))) sources.add(Number(source))
    return new Set([...sources].map((source) => this.#nameOf(source)))
  }

  /** What is around a passage that was found. */
  around(
    found: Pick<Passage, "uuid" | "blocks" | "start"> & { readonly source: string },
    most: number,
  ): BlockAround | undefined {
    const source = sourceId(this.#file, found.source)
    if (source === undefined) return undefined
    const { uuid, blocks, start } = found
    const id = this.#file
      .statement("SELECT id FROM passages WHERE source = ? AND uuid = ? AND blocks = ? AND start = ?")
      .get(source, uuid, blocks, start)?.id
    if (id === undefined) return undefined
    const rows = this.#file
      .statement(`SELECT ${COLUMNS} FROM passages WHERE source = ? AND id BETWEEN ? AND ? ORDER BY id`)
      .all(source, Number(id) - most, Number(id) + most)
      .map(passageFrom)
    return blockAround(rows, found)
  }

  /** Work in the background, which does not wait for other processes. */
  briefly<T>(work: () => Promise<T>): Promise<T> {
    return this.#file.briefly(work)
  }

  close(): void {
    this.#file.close()
  }

  /** Reads what is new in the table. After a removal, by this process or another, all of it. */
  #upToDate(): PassageColumns {
    const removals = Number(this.#file.statement("SELECT count FROM removals").get()!.count)
    if (removals !== this.#removals) {
      this.#columns = new PassageColumns()
      this.#names.clear()
      this.#rows.clear()
      this.#terms.clear()
    }
    this.#removals = removals
    const before = this.#columns.largest
    loadFacts(this.#file, this.#columns)
    if (before > 0) this.#terms.add(before, this.#columns.largest)
    return this.#columns
  }

  #vocabulary(count: number): Vocabulary {
    return {
      count,
      documentsWith: (term) => this.#terms.documentsWith(term),
      similarTo: (term, isName) => this.#terms.similarTo(term, isName),
    }
  }

  #lists({ terms, isForSpeaker }: LookedFor, only: number | undefined): readonly TermList[] {
    const lists: TermList[] = []
    let [listed, ofContext] = [0, 0]
    for (const [at, { term, weight, documents, isName, word }] of terms.entries()) {
      if (word === undefined) {
        if (ofContext + documents > MOST_CONTEXT_LISTED) continue
        ofContext += documents
        const ids = this.#terms.idsWith(term, only)
        lists.push({ weight, word, isName, ids, twice: [], often: [], told: [] })
        continue
      }
      listed += documents
      if (at > 0 && listed > MOST_LISTED) continue
      lists.push({ weight, word, isName, ...this.#terms.listsOf(term, { only, isForSpeaker }) })
    }
    return lists
  }

  /** A question without words, such as an emoji or an operator, is compared with the texts themselves. */
  #literal(text: string, which: { only: number | undefined; fits: (id: number) => boolean }): readonly RankedPassage[] {
    if (text === "") return []
    return passagesWith(this.#file, { text, ...which, most: READ }).map((id) => ({ id, score: 1, mask: 0 }))
  }

  #filter({ isSaid, kind, since, until, exclude }: Question, only: number | undefined): (id: number) => boolean {
    const { said, kinds, times, sources } = this.#columns
    const from = since?.getTime() ?? Number.NEGATIVE_INFINITY
    const to = until?.getTime() ?? Number.POSITIVE_INFINITY
    const left = new Set([...(exclude?.sources ?? [])].map((name) => sourceId(this.#file, name)))
    return (id) =>
      (!isSaid || said[id] === 1) &&
      (kind === undefined || kinds[id] === kind) &&
      !(times[id]! < from || times[id]! >= to) &&
      (only === undefined || sources[id] === only) &&
      (left.size === 0 || !left.has(sources[id]!))
  }

  #withTexts(ranked: readonly RankedPassage[], { exclude }: Question): readonly RankedText[] {
    this.#keepRows(ranked.map(({ id }) => id))
    return ranked.flatMap((one) => {
      const row = this.#rows.get(one.id)
      if (!row || exclude?.messages?.has(row.uuid)) return []
      const source = this.#nameOf(row.source)
      const { uuid, blocks, text } = row
      const { id } = one
      const isSaid = row.isSaid === 1
      return [{ ...one, source, uuid, blocks, isSaid, text, passage: () => ({ ...this.#passage(id), source }) }]
    })
  }

  #keepRows(wanted: readonly number[]): void {
    if (this.#rows.size > MOST_KEPT_ROWS) this.#rows.clear()
    const ids = wanted.filter((id) => !this.#rows.has(id))
    if (ids.length === 0) return
    const rows = this.#file
      .statement(
        "SELECT id, source, uuid, blocks, isSaid, text FROM passages WHERE id IN (SELECT value FROM json_each(?))",
      )
      .all(JSON.stringify(ids)) as unknown as readonly TextRow[]
    for (const row of rows) this.#rows.set(row.id, row)
  }

  #passage(id: number): Passage {
    return passageFrom(this.#file.statement(`SELECT ${COLUMNS} FROM passages WHERE id = ?`).get(id)!)
  }

  #nameOf(source: number): string {
    const known = this.#names.get(source)
    if (known !== undefined) return known
    const name = String(this.#file.statement("SELECT name FROM sources WHERE id = ?").get(source)?.name)
    this.#names.set(source, name)
    return name
  }
}

interface TextRow extends Pick<Passage, "uuid" | "blocks" | "text"> {
  readonly id: number
  readonly source: number
  /** 1: yes. */
  readonly isSaid: number
}
