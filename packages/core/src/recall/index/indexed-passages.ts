/**
 * Finds the passages of a store that answer a question. The store lists the passages with each token, and the ranking orders them here.
 * Names are found in full, by their parts and by their prefix. A question sends three requests to the store: for changes and token
 * counts, for lists, and for texts. Data that was read is cached here and updated as the store grows.
 */
import { FACTS, type PassageDelta, type StoredPassage } from "../../journal/passage-store.ts"
import {
  type ChosenPassages,
  choosePassages,
  chooseRanked,
  NOTHING_FOUND,
  type PassageMatch,
  type PassageSearchResult,
  type RankedText,
} from "../answer/choose.ts"
import {
  extractQueryTerms,
  type IndexVocabulary,
  MAX_MISSING,
  type ParsedQuery,
  parseQuery,
  type QueryTerms,
  queryCoverage,
  requiredWords,
} from "../answer/parsed-query.ts"
import { type Question, type RankedPassage, rankPassages, type TermList, WEIGHTS } from "../answer/ranking.ts"
import { type BlockAround, blockAround } from "../passages/passage.ts"
import { PassageColumns } from "../passages/passage-columns.ts"
import { innerStopPrefixes } from "../passages/stop-prefixes.ts"
import { type IndexQuery, queryStore } from "./index-query.ts"
import type { LiteralQuery } from "./literal-search.ts"
import { TermLists } from "./term-lists.ts"
import { isDialogueIn, isPlainTerm, isQuestionIn, kindIn, passageFrom, prefixToken, tokenOf } from "./tokens.ts"

/** Number of passages whose texts are read and compared with the question. */
const MAX_COMPARED = 100
/** Limit for passages that contain a term of the question, summed over its terms. The rarest terms come first. */
const MAX_LISTED = 50_000 // about 8 ms
/** Number of passages whose texts are cached for the next question: about 1 MB. */
const MAX_CACHED_ROWS = 2_000
/** Limit for passages that are listed for terms of the context, which only influence the order. */
const MAX_CONTEXT_LISTED = 5_000
/** Number of terms that are tried for a word that no passage contains: terms that start with it or contain it. */
const MAX_SIMILAR = 20
const MIN_PREFIX = 3

/** Finds the passages with a literal text, newest first. */
export type LiteralSearch = (query: LiteralQuery, lists: TermLists) => IndexQuery<readonly number[]> | readonly number[]

export interface DialoguePassages {
  /** Number of removals so far. */
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
  /** Rows by passage id: a conversation tends to repeat its subjects. */
  readonly #rows = new Map<number, StoredPassage>()
  readonly #terms: TermLists

  /** `maxKept`: limit for the numbers in cached lists. */
  constructor({ literally, maxKept }: { readonly literally: LiteralSearch; readonly maxKept: number }) {
    this.#literally = literally
    this.#terms = new TermLists({ columns: () => this.#columns, maxKept })
  }

  /** The passages that answer a question, best first. */
  *search(question: Question): IndexQuery<PassageSearchResult> {
    const ranked = yield* this.#ranked(question)
    return ranked ? choosePassages(ranked.texts, question, ranked.asked) : NOTHING_FOUND
  }

  /** Which passages answer a question, without their texts. */
  *choose(question: Question): IndexQuery<ChosenPassages> {
    const ranked = yield* this.#ranked(question)
    return ranked ? chooseRanked(ranked.texts, question, ranked.asked) : { chosen: [], more: 0, isFitting: false }
  }

  /** The surroundings of passages that the last question found, up to `max` passages away. */
  *around(found: readonly PassagePosition[], max: number): IndexQuery<readonly (BlockAround | undefined)[]> {
    const keyOf = ({ source, uuid, blocks, start }: PassagePosition) => JSON.stringify([source, uuid, blocks, start])
    const ids = new Map<string, number>()
    for (const { id, source, ...row } of this.#rows.values())
      ids.set(keyOf({ ...row, source: this.#names.get(source)! }), id)
    const matchIds = found.map((one) => ids.get(keyOf(one)) ?? 0)
    const rows = found.length === 0 ? [] : yield* queryStore((store) => store.neighbors(matchIds, max))
    return rows.map((each, at) => (each.length === 0 ? undefined : blockAround(each.map(passageFrom), found[at]!)))
  }

  /** Messages of the user and the assistant after this passage, in order, at most `max`. */
  *dialogue(after: number, max: number): IndexQuery<DialoguePassages> {
    yield* this.#catchUp([])
    const { dialogue, largest } = this.#columns
    const ids: number[] = []
    for (let id = after + 1; id <= largest && ids.length < max; id++) if (dialogue[id] === 1) ids.push(id)
    const rows = ids.length === 0 ? [] : yield* queryStore((store) => store.rows(ids))
    const passages = rows.map(({ id, text }) => ({ id, text })).sort((a, b) => a.id - b.id)
    return { removals: this.#removals, passages }
  }

  /** The nearest passages that fit the question. */
  *nearest(
    question: Question,
    closeness: (id: number) => number | undefined,
    max: number,
  ): IndexQuery<readonly PassageMatch[]> {
    yield* this.#catchUp([])
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
  ): IndexQuery<{ readonly texts: readonly RankedText[]; readonly asked: ParsedQuery } | undefined> {
    const terms = extractQueryTerms(question)
    // a question without terms is compared with the texts that have these tokens
    const ofText = terms.asked.length === 0 ? literalTokens(question.text.trim()) : []
    const vocabulary = yield* this.#learnTerms(terms, ofText)
    const columns = this.#columns
    const only = question.source === undefined ? undefined : this.#sources.get(question.source)
    if (columns.count === 0 || (question.source !== undefined && only === undefined)) return undefined
    const weights = { ...WEIGHTS, ...question.weights }
    const asked = parseQuery({ ...terms, text: question.text, vocabulary, weights })
    const fits = this.#filter(question, only)
    const { prior, minCoverage = 0 } = question
    const needed = minCoverage > 0 ? requiredWords(minCoverage, asked) : undefined
    if (needed?.size === 0 && asked.words.length > 0) return undefined // no list needs to be read
    const ranked =
      asked.words.length === 0
        ? yield* this.#literal(asked.text, { only, fits })
        : rankPassages({
            ...{ columns, weights, fits, isForAnswer: asked.isForAnswer },
            ...{ time: asked.time, lists: yield* this.#lists(asked, only), minShare: minCoverage },
            ...(needed ? { needed } : {}),
            share: (mask) => queryCoverage(mask, asked),
            prior: prior ? (id) => prior(this.#names.get(columns.sources[id]!)!) : () => 1,
          })
    return { texts: yield* this.#withTexts(ranked.slice(0, MAX_COMPARED), question), asked }
  }

  /** Reads changes, and the document counts of these terms and other tokens. */
  *#learnTerms({ asked, context }: QueryTerms, others: readonly string[]): IndexQuery<IndexVocabulary> {
    const tokens = [...asked.map(({ term }) => tokenOf(term)), ...context.map(tokenOf), ...others]
    const queryTokens = asked.map(({ term }) => tokenOf(term))
    const beginning = yield* this.#catchUp(tokens, queryTokens)
    const similar = new Map<string, readonly string[]>()
    const missingTerms = asked.filter(({ term }) => this.#terms.documents(tokenOf(term)) === 0)
    for (const { term, isName } of missingTerms.slice(0, MAX_MISSING)) {
      if (!isPlainTerm(term) || term.length < MIN_PREFIX) continue
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

  *#containing(part: string): IndexQuery<readonly string[]> {
    const found = yield* this.#terms.containing(part)
    yield* this.#catchUp(found)
    return found
      .map((token) => ({ token, documents: this.#terms.documents(token)! }))
      .sort((a, b) => a.documents - b.documents || (a.token < b.token ? -1 : 1))
      .slice(0, MAX_SIMILAR)
      .map(({ token }) => token)
  }

  /**
   * Reads changes until all tokens are known. After a removal, by this process or another, everything is read again. `queryTokens`:
   * tokens whose prefix is looked up if no passage has them.
   */
  *#catchUp(tokens: readonly string[], asked: readonly string[] = []): IndexQuery<PassageDelta["byPrefix"]> {
    for (;;) {
      const unknown = [...new Set(tokens)].filter((token) => this.#terms.documents(token) === undefined)
      const since = {
        ...{ passage: this.#columns.largest, source: this.#lastSource, removals: this.#removals },
        ...{ maxRows: this.#terms.maxAdded, tokens: unknown, maxMissed: MAX_MISSING, maxSimilar: MAX_SIMILAR },
        queryTokens: asked.filter((token) => !this.#terms.documents(token)),
      }
      const delta = yield* queryStore((store) => store.changes(since))
      this.#apply(delta)
      for (const [at, documents] of delta.documents.entries()) this.#terms.learn(unknown[at]!, documents)
      // counts may have been dropped because too much was new
      if (tokens.every((token) => this.#terms.documents(token) !== undefined)) return delta.byPrefix
    }
  }

  #apply({ removals, facts, sources, rows }: PassageDelta): void {
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

  *#lists({ terms }: ParsedQuery, only: number | undefined): IndexQuery<readonly TermList[]> {
    let [listed, ofContext] = [0, 0]
    const listedTerms = terms.filter(({ documents, word }, at) => {
      if (word === undefined) {
        if (ofContext + documents > MAX_CONTEXT_LISTED) return false
        ofContext += documents
        return true
      }
      listed += documents
      return at === 0 || listed <= MAX_LISTED
    })
    const lists = yield* this.#terms.listsOf(
      listedTerms.map(({ term, word }) => ({ term, isPlain: word === undefined })),
      only,
    )
    return listedTerms.map(({ weight, word, isName }, at) => ({ weight, word, isName, ...lists[at]! }))
  }

  /** Answers a question without terms, such as an emoji or an operator, by comparing it with the texts. */
  *#literal(text: string, which: Pick<LiteralQuery, "only" | "fits">): IndexQuery<readonly RankedPassage[]> {
    if (text === "") return []
    const answer = this.#literally({ text, tokens: literalTokens(text), ...which, max: MAX_COMPARED }, this.#terms)
    const found = "next" in answer ? yield* answer : answer
    return found.map((id) => ({ id, score: 1, mask: 0 }))
  }

  #filter({ isDialogue, kind, since, until, exclude }: Question, only: number | undefined): (id: number) => boolean {
    const { dialogue, kinds, times, sources } = this.#columns
    const from = since?.getTime() ?? Number.NEGATIVE_INFINITY
    const to = until?.getTime() ?? Number.POSITIVE_INFINITY
    const excluded = new Set([...(exclude?.sources ?? [])].map((name) => this.#sources.get(name)))
    return (id) =>
      (!isDialogue || dialogue[id] === 1) &&
      (kind === undefined || kinds[id] === kind) &&
      !(times[id]! < from || times[id]! >= to) &&
      (only === undefined || sources[id] === only) &&
      (excluded.size === 0 || !excluded.has(sources[id]!))
  }

  *#withTexts(ranked: readonly RankedPassage[], { exclude }: Question): IndexQuery<readonly RankedText[]> {
    yield* this.#loadRows(ranked.map(({ id }) => id))
    return ranked.flatMap((one) => {
      const row = this.#rows.get(one.id)
      if (!row || exclude?.messages?.has(row.uuid)) return []
      const source = this.#names.get(row.source)!
      const { uuid, blocks, text } = row
      const passage = () => ({ ...passageFrom(row), source })
      return [{ ...one, source, uuid, blocks, isDialogue: isDialogueIn(row.facts), text, passage }]
    })
  }

  *#loadRows(passageIds: readonly number[]): IndexQuery<void> {
    if (this.#rows.size > MAX_CACHED_ROWS) this.#rows.clear()
    const ids = passageIds.filter((id) => !this.#rows.has(id))
    if (ids.length === 0) return
    for (const row of yield* queryStore((store) => store.rows(ids))) this.#rows.set(row.id, row)
  }
}

/** Tokens that every passage with this text has. */
const literalTokens = (text: string): readonly string[] => [...innerStopPrefixes(text)].map(prefixToken)

type PassagePosition = Pick<PassageMatch, "source" | "uuid" | "blocks" | "start">

function addFacts(columns: PassageColumns, values: ArrayLike<number>): void {
  for (let at = 0; at < values.length; at += FACTS) {
    const facts = values[at + 3]!
    columns.add(values[at]!, {
      source: values[at + 1]!,
      turn: values[at + 2]!,
      kind: kindIn(facts),
      isDialogue: isDialogueIn(facts),
      isQuestion: isQuestionIn(facts),
      length: values[at + 4]!,
      blockLength: values[at + 5]!,
      time: values[at + 6]!,
    })
  }
}
