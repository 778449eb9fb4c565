/**
 * From a question to the passages of a shelf that answer it. The shelf lists the passages with each token, the ranking orders them here. Names are
 * found whole, by their parts and by their beginning. A question asks the shelf three times: for what is new and what its tokens are in, for
 * lists, and for texts. What was read stays here, and follows the shelf as it grows.
 */
import { FACTS, type PassageDelta, type ShelfRow } from "../../journal/passage-shelf.ts"
import {
  type Choices,
  choicesFrom,
  chooseFrom,
  type Found,
  NOTHING_FOUND,
  type RankedText,
  type SearchAnswer,
} from "../answer/choose.ts"
import {
  type AskedTerms,
  coverageOf,
  type LookedFor,
  lookedFor,
  MAX_MISSED,
  neededFor,
  termsAsked,
  type Vocabulary,
} from "../answer/looked-for.ts"
import { type Question, type RankedPassage, rankPassages, type TermList, WEIGHTS } from "../answer/ranking.ts"
import { beginningsAround } from "../passages/common-beginnings.ts"
import { type BlockAround, blockAround } from "../passages/passage.ts"
import { PassageColumns } from "../passages/passage-columns.ts"
import { type Asking, fromShelf } from "./asking.ts"
import type { LiteralWanted } from "./literal-search.ts"
import { TermLists } from "./term-lists.ts"
import { beginningToken, isPlainTerm, isQuestionIn, isSaidIn, kindIn, passageFrom, tokenOf } from "./tokens.ts"

/** Passages whose texts are read and compared with the question. */
const READ = 100
/** Passages that have a term of the question, over all its terms. The rarest terms come first. */
const MAX_LISTED = 50_000 // about 8 ms
/** Passages whose texts are kept for the next question: about 1 MB. */
const MAX_KEPT_ROWS = 2_000
/** Passages that are listed for the words of the context: they only help to choose. */
const MAX_CONTEXT_LISTED = 5_000
/** Terms that begin with, or contain, a word that no passage has. */
const MAX_SIMILAR = 20
const SHORTEST_PART = 3

/** How the passages with a text as it is written are found, the newest first. */
export type LiteralSearch = (wanted: LiteralWanted, lists: TermLists) => Asking<readonly number[]> | readonly number[]

export interface SaidPassages {
  /** How often something was removed. */
  readonly removals: number
  readonly passages: readonly { readonly id: number; readonly text: string }[]
}

export class IndexedPassages {
  readonly #literally: LiteralSearch
  #columns = new PassageColumns()
  #removals = 0
  readonly #names = new Map<number, string>()
  readonly #sources = new Map<string, number>()
  #lastSource = 0
  /** By passage. What a conversation asks about, it asks about again. */
  readonly #rows = new Map<number, ShelfRow>()
  readonly #terms: TermLists

  /** `mostKept`: numbers in lists that are kept. */
  constructor({ literally, maxKept }: { readonly literally: LiteralSearch; readonly maxKept: number }) {
    this.#literally = literally
    this.#terms = new TermLists({ columns: () => this.#columns, maxKept })
  }

  /** The passages that answer a question, the best first. */
  *search(question: Question): Asking<SearchAnswer> {
    const ranked = yield* this.#ranked(question)
    return ranked ? chooseFrom(ranked.texts, question, ranked.asked) : NOTHING_FOUND
  }

  /** Only which passages answer it, without them. */
  *choose(question: Question): Asking<Choices> {
    const ranked = yield* this.#ranked(question)
    return ranked ? choicesFrom(ranked.texts, question, ranked.asked) : { chosen: [], more: 0, isFitting: false }
  }

  /** What is around passages that the last question found: for each, as far as this many passages away. */
  *around(found: readonly Place[], max: number): Asking<readonly (BlockAround | undefined)[]> {
    const keyOf = ({ source, uuid, blocks, start }: Place) => JSON.stringify([source, uuid, blocks, start])
    const ids = new Map<string, number>()
    for (const { id, source, ...row } of this.#rows.values())
      ids.set(keyOf({ ...row, source: this.#names.get(source)! }), id)
    const wanted = found.map((one) => ids.get(keyOf(one)) ?? 0)
    const rows = found.length === 0 ? [] : yield* fromShelf((shelf) => shelf.around(wanted, max))
    return rows.map((each, at) => (each.length === 0 ? undefined : blockAround(each.map(passageFrom), found[at]!)))
  }

  /** What people and the assistant said after this passage, in its order: so many at most. */
  *said(after: number, max: number): Asking<SaidPassages> {
    yield* this.#upToDate([])
    const { said, largest } = this.#columns
    const ids: number[] = []
    for (let id = after + 1; id <= largest && ids.length < max; id++) if (said[id] === 1) ids.push(id)
    const rows = ids.length === 0 ? [] : yield* fromShelf((shelf) => shelf.rows(ids))
    const passages = rows.map(({ id, text }) => ({ id, text })).sort((a, b) => a.id - b.id)
    return { removals: this.#removals, passages }
  }

  /** The passages that fit the question and are the nearest. */
  *nearest(question: Question, closeness: (id: number) => number | undefined, max: number): Asking<readonly Found[]> {
    yield* this.#upToDate([])
    const only = question.source === undefined ? undefined : this.#sources.get(question.source)
    if (question.source !== undefined && only === undefined) return []
    const fits = this.#filter(question, only)
    const near: RankedPassage[] = []
    for (const id of this.#columns.ids()) {
      const score = fits(id) ? closeness(id) : undefined
      if (score !== undefined) near.push({ id, score, mask: 0 })
    }
    const nearest = near.sort((a, b) => b.score - a.score || b.id - a.id).slice(0, max)
    const texts = yield* this.#withTexts(nearest, question)
    return texts.map(({ passage, score }) => ({ ...passage(), score, at: 0, coverage: 0, words: [] }))
  }

  *#ranked(
    question: Question,
  ): Asking<{ readonly texts: readonly RankedText[]; readonly asked: LookedFor } | undefined> {
    const terms = termsAsked(question)
    // a question without words is compared with texts, among those that have these
    const ofText = terms.asked.length === 0 ? literalTokens(question.text.trim()) : []
    const vocabulary = yield* this.#learned(terms, ofText)
    const columns = this.#columns
    const only = question.source === undefined ? undefined : this.#sources.get(question.source)
    if (columns.count === 0 || (question.source !== undefined && only === undefined)) return undefined
    const weights = { ...WEIGHTS, ...question.weights }
    const asked = lookedFor({ ...terms, text: question.text, vocabulary, weights })
    const fits = this.#filter(question, only)
    const { prior, minCoverage = 0 } = question
    const needed = minCoverage > 0 ? neededFor(minCoverage, asked) : undefined
    if (needed?.size === 0 && asked.words.length > 0) return undefined // no list need be read
    const ranked =
      asked.words.length === 0
        ? yield* this.#literal(asked.text, { only, fits })
        : rankPassages({
            ...{ columns, weights, fits, isForAnswer: asked.isForAnswer },
            ...{ time: asked.time, lists: yield* this.#lists(asked, only), minShare: minCoverage },
            ...(needed ? { needed } : {}),
            share: (mask) => coverageOf(mask, asked),
            prior: prior ? (id) => prior(this.#names.get(columns.sources[id]!)!) : () => 1,
          })
    return { texts: yield* this.#withTexts(ranked.slice(0, READ), question), asked }
  }

  /** Reads what is new, and learns what the shelf has of these terms and of other tokens. */
  *#learned({ asked, around }: AskedTerms, others: readonly string[]): Asking<Vocabulary> {
    const tokens = [...asked.map(({ term }) => tokenOf(term)), ...around.map(tokenOf), ...others]
    const missing = asked.map(({ term }) => tokenOf(term))
    const beginning = yield* this.#upToDate(tokens, missing)
    const similar = new Map<string, readonly string[]>()
    const missed = asked.filter(({ term }) => this.#terms.documents(tokenOf(term)) === 0)
    for (const { term, isName } of missed.slice(0, MAX_MISSED)) {
      if (!isPlainTerm(term) || term.length < SHORTEST_PART) continue
      const found = beginning.get(term) ?? []
      for (const { token, documents } of found) this.#terms.learn(token, documents)
      if (found.length > 0 || !isName)
        similar.set(
          term,
          found.map(({ token }) => token),
        )
      else similar.set(term, yield* this.#containing(term))
    }
    return {
      count: this.#columns.count,
      documentsWith: (term) => this.#terms.documents(tokenOf(term)) ?? 0,
      similarTo: (term) => similar.get(term) ?? [],
    }
  }

  *#containing(part: string): Asking<readonly string[]> {
    const found = yield* this.#terms.containing(part)
    yield* this.#upToDate(found)
    return found
      .map((token) => ({ token, documents: this.#terms.documents(token)! }))
      .sort((a, b) => a.documents - b.documents || (a.token < b.token ? -1 : 1))
      .slice(0, MAX_SIMILAR)
      .map(({ token }) => token)
  }

  /** After a removal, by this process or another, all is read again. `asked`: tokens that are looked up by their beginning if no passage has them. */
  *#upToDate(tokens: readonly string[], asked: readonly string[] = []): Asking<PassageDelta["beginning"]> {
    for (;;) {
      const unknown = [...new Set(tokens)].filter((token) => this.#terms.documents(token) === undefined)
      const since = {
        ...{ passage: this.#columns.largest, source: this.#lastSource, removals: this.#removals },
        ...{ maxRows: this.#terms.maxAdded, tokens: unknown, maxMissed: MAX_MISSED, mostSimilar: MAX_SIMILAR },
        asked: asked.filter((token) => !this.#terms.documents(token)),
      }
      const news = yield* fromShelf((shelf) => shelf.news(since))
      this.#take(news)
      for (const [at, documents] of news.documents.entries()) this.#terms.learn(unknown[at]!, documents)
      // what was known may have been forgotten because too much is new
      if (tokens.every((token) => this.#terms.documents(token) !== undefined)) return news.beginning
    }
  }

  #take({ removals, facts, sources, rows }: PassageDelta): void {
    if (removals !== this.#removals) {
      this.#columns = new PassageColumns()
      this.#names.clear()
      this.#sources.clear()
      this.#lastSource = 0
      this.#rows.clear()
      this.#terms.clear()
    }
    this.#removals = removals
    for (const [id, name] of sources) {
      this.#names.set(id, name)
      this.#sources.set(name, id)
      this.#lastSource = Math.max(this.#lastSource, id)
    }
    const last = facts.findLast(({ length }) => length > 0)
    if (last) this.#columns.reserve(last[last.length - FACTS]!)
    for (const values of facts) addFacts(this.#columns, values)
    if (rows) this.#terms.add(rows)
    else if (facts.some(({ length }) => length > 0)) this.#terms.clear()
  }

  *#lists({ terms }: LookedFor, only: number | undefined): Asking<readonly TermList[]> {
    let [listed, ofContext] = [0, 0]
    const wanted = terms.filter(({ documents, word }, at) => {
      if (word === undefined) {
        if (ofContext + documents > MAX_CONTEXT_LISTED) return false
        ofContext += documents
        return true
      }
      listed += documents
      return at === 0 || listed <= MAX_LISTED
    })
    const lists = yield* this.#terms.listsOf(
      wanted.map(({ term, word }) => ({ term, isPlain: word === undefined })),
      only,
    )
    return wanted.map(({ weight, word, isName }, at) => ({ weight, word, isName, ...lists[at]! }))
  }

  /** A question without words, such as an emoji or an operator, is compared with the texts themselves. */
  *#literal(text: string, which: Pick<LiteralWanted, "only" | "fits">): Asking<readonly RankedPassage[]> {
    if (text === "") return []
    const answer = this.#literally({ text, tokens: literalTokens(text), ...which, max: READ }, this.#terms)
    const found = "next" in answer ? yield* answer : answer
    return found.map((id) => ({ id, score: 1, mask: 0 }))
  }

  #filter({ isSaid, kind, since, until, exclude }: Question, only: number | undefined): (id: number) => boolean {
    const { said, kinds, times, sources } = this.#columns
    const from = since?.getTime() ?? Number.NEGATIVE_INFINITY
    const to = until?.getTime() ?? Number.POSITIVE_INFINITY
    const left = new Set([...(exclude?.sources ?? [])].map((name) => this.#sources.get(name)))
    return (id) =>
      (!isSaid || said[id] === 1) &&
      (kind === undefined || kinds[id] === kind) &&
      !(times[id]! < from || times[id]! >= to) &&
      (only === undefined || sources[id] === only) &&
      (left.size === 0 || !left.has(sources[id]!))
  }

  *#withTexts(ranked: readonly RankedPassage[], { exclude }: Question): Asking<readonly RankedText[]> {
    yield* this.#keepRows(ranked.map(({ id }) => id))
    return ranked.flatMap((one) => {
      const row = this.#rows.get(one.id)
      if (!row || exclude?.messages?.has(row.uuid)) return []
      const source = this.#names.get(row.source)!
      const { uuid, blocks, text } = row
      const passage = () => ({ ...passageFrom(row), source })
      return [{ ...one, source, uuid, blocks, isSaid: isSaidIn(row.facts), text, passage }]
    })
  }

  *#keepRows(wanted: readonly number[]): Asking<void> {
    if (this.#rows.size > MAX_KEPT_ROWS) this.#rows.clear()
    const ids = wanted.filter((id) => !this.#rows.has(id))
    if (ids.length === 0) return
    for (const row of yield* fromShelf((shelf) => shelf.rows(ids))) this.#rows.set(row.id, row)
  }
}

/** Every passage that has a text has these. */
const literalTokens = (text: string): readonly string[] => [...beginningsAround(text)].map(beginningToken)

type Place = Pick<Found, "source" | "uuid" | "blocks" | "start">

function addFacts(columns: PassageColumns, values: ArrayLike<number>): void {
  for (let at = 0; at < values.length; at += FACTS) {
    const facts = values[at + 3]!
    columns.add(values[at]!, {
      source: values[at + 1]!,
      turn: values[at + 2]!,
      kind: kindIn(facts),
      isSaid: isSaidIn(facts),
      isQuestion: isQuestionIn(facts),
      length: values[at + 4]!,
      blockLength: values[at + 5]!,
      time: values[at + 6]!,
    })
  }
}
