/** Parses a question: its words, the index terms that represent each, and their weights. */

import { namesAsWritten, type QuestionTerm, questionTerms } from "../passages/passage-terms.ts"
import { findNamedTime, type NamedTime } from "./named-time.ts"
import { isAboutTalk, isForSummary, isTalkWord } from "./question-frame.ts"
import { countBits, type Question, type Weights } from "./ranking.ts"

/** Only the rarest words are used, so that a mask of 32 bits is enough. */
const MAX_QUERY_WORDS = 24
const MAX_CONTEXT_TERMS = 40
/** Weight of a term that only shares a prefix with a word of the question. */
const SIMILAR = 0.5
/** Number of words for which similar terms are looked up. */
export const MAX_MISSING = 4
/** A long message has several subjects. A passage with this many of its rarest words covers it. */
const ENOUGH_WORDS = 6

/** A passage that covers this share of the question fits. */
const MIN_COVERAGE = 0.3
/** The best passages of five sources fit too if together they have this share of its words, and one of them has two. */
const MIN_TOGETHER = 0.4
const SOURCES_TOGETHER = 5

interface QueryTerm {
  readonly term: string
  /** Number of passages that contain the term. */
  readonly documents: number
  readonly weight: number
  readonly isName: boolean
  /** Index of the word that the term represents. `undefined`: a term of the context. */
  readonly word: number | undefined
}

export interface ParsedQuery {
  /** The words of the question that distinguish passages, as written. */
  readonly words: readonly string[]
  /** Weight of each word. */
  readonly weights: readonly number[]
  /** The weight of a passage that covers the entire question. */
  readonly fullWeight: number
  /** Rarest first. */
  readonly terms: readonly QueryTerm[]
  readonly names: readonly string[]
  readonly text: string
  readonly time: NamedTime | undefined
  /** Whether the question asks for something that the assistant wrote. Long answers are then not penalised. */
  readonly isForAnswer: boolean
}

const FOR_ANSWER =
  /\b(?:did you|have you|you (?:said|told|gave|wrote|listed|mentioned|suggested|proposed|recommended|explained|provided)|your (?:answer|advice|list|proposal|suggestion|recommendation)s?)\b/i

export interface IndexVocabulary {
  /** Number of passages in the index. */
  readonly count: number
  readonly documentsWith: (term: string) => number
  /** Terms that start with this one, or contain it. */
  readonly similarTo: (term: string, isName: boolean) => readonly string[]
}

/** The terms of a question, before the index is queried. */
export interface QueryTerms {
  readonly asked: readonly QuestionTerm[]
  /** Terms of the context, without those of the question. */
  readonly context: readonly string[]
  readonly time: NamedTime | undefined
}

/**
 * Extracts the terms of a question. Words that name a time are compared with times, so as terms they only have the weight of context.
 * So do words about the conversation itself.
 */
export function extractQueryTerms({ text, context = [], now }: Question): QueryTerms {
  const time = findNamedTime(text, now)
  const all = questionTerms(time ? text.replace(time.phrase, " ") : text)
  const ofTalk = isAboutTalk(text) ? all.filter(({ word }) => isTalkWord(word)) : []
  const asked = ofTalk.length === all.length ? all : all.filter((term) => !ofTalk.includes(term))
  const termSet = new Set(asked.map(({ term }) => term))
  const around = [...[...context, time?.phrase ?? ""].flatMap((each) => questionTerms(each)), ...ofTalk]
    .slice(-MAX_CONTEXT_TERMS)
    .flatMap(({ term }) => (termSet.has(term) ? [] : term))
  return { asked, context: around, time }
}

interface QueryInput extends QueryTerms {
  readonly text: string
  readonly vocabulary: IndexVocabulary
  readonly weights: Weights
}

export function parseQuery({ text, vocabulary, weights, ...terms }: QueryInput): ParsedQuery {
  const isForAnswer = FOR_ANSWER.test(text) || isForSummary(text)
  const weighed = (term: string) => {
    const documents = vocabulary.documentsWith(term)
    return { term, documents, weight: rarity(documents, vocabulary.count) }
  }
  const asked = terms.asked
    .map(({ term, word, isName }) => ({ ...weighed(term), name: word, isName }))
    .sort((a, b) => b.weight - a.weight)
  const known = asked.filter(({ documents }) => documents > 0)
  const missed = asked.filter(({ documents }) => documents === 0)
  const similar = missed.slice(0, MAX_MISSING).map(({ term, isName, ...rest }) => ({
    ...{ ...rest, isName },
    others: vocabulary.similarTo(term, isName).map(weighed),
  }))
  const found = similar.filter(({ others }) => others.length > 0)
  const words = [...known, ...found, ...missed.filter(({ name }) => !found.some((one) => one.name === name))]
    .slice(0, MAX_QUERY_WORDS)
    .map(({ name, weight }) => ({ name, weight }))
  const indexes = new Map(words.map(({ name }, at) => [name, at]))
  const own = known.flatMap(({ name, ...term }) => (indexes.has(name) ? [{ ...term, word: indexes.get(name)! }] : []))
  const others = found.flatMap(({ others: terms, name, isName }) =>
    terms.map((term) => ({ ...term, weight: SIMILAR * term.weight, isName, word: indexes.get(name) })),
  )
  const around = terms.context
    .map(weighed)
    .filter(({ documents }) => documents > 0)
    .map((term) => ({ ...term, weight: weights.context * term.weight, isName: false, word: undefined }))
  return {
    words: words.map(({ name }) => name),
    weights: words.map(({ weight }) => weight),
    fullWeight: sum(
      words
        .map(({ weight }) => weight)
        .sort((a, b) => b - a)
        .slice(0, ENOUGH_WORDS),
    ),
    terms: [...own, ...others, ...around].sort((a, b) => b.weight - a.weight),
    names: namesAsWritten(text),
    ...{ text: text.trim(), time: terms.time, isForAnswer },
  }
}

/** The inverse document frequency of BM25. */
const rarity = (documents: number, count: number) => Math.log(1 + (count - documents + 0.5) / (documents + 0.5))

/** Share of the question that a mask covers, weighted by the rarity of its words. */
export function queryCoverage(mask: number, { weights, fullWeight }: ParsedQuery): number {
  let covered = 0
  for (let at = 0; at < weights.length; at++) if (mask & (1 << at)) covered += weights[at]! // called for every candidate
  return fullWeight === 0 ? 0 : Math.min(1, covered / fullWeight)
}

/**
 * The words of which a passage or a turn around it must contain at least one to cover this share of the question. Empty: no passage
 * can.
 */
export function requiredWords(share: number, { terms, weights, fullWeight }: ParsedQuery): ReadonlySet<number> {
  const min = share * fullWeight * (1 - ROUNDING)
  const known = [...new Set(terms.flatMap(({ word }) => word ?? []))].sort((a, b) => weights[a]! - weights[b]!)
  let covered = 0
  const isNeeded = (word: number) => {
    covered += weights[word]!
    return covered >= min
  }
  return new Set(known.filter(isNeeded))
}

/** Sums of the same weights in a different order differ by less than this. */
const ROUNDING = 1e-9

export const matchedWords = (mask: number, { words }: ParsedQuery): readonly string[] =>
  words.filter((_, at) => mask & (1 << at))

/**
 * Whether the matches fit the question, or only share a word with it. A question with several parts has its answers in several sources:
 * each covers little, so their coverage is combined.
 */
export function isFitting(
  found: readonly { readonly source: string; readonly mask: number }[],
  question: ParsedQuery,
): boolean {
  if (found.some(({ mask }) => queryCoverage(mask, question) >= MIN_COVERAGE)) return true
  if (!found.some(({ mask }) => countBits(mask) > 1)) return false
  const together = new Map<string, number>()
  for (const { source, mask } of found) {
    if (!together.has(source)) together.set(source, mask)
    if (together.size === SOURCES_TOGETHER) break
  }
  let all = 0
  for (const mask of together.values()) all |= mask
  return countBits(all) >= MIN_TOGETHER * question.words.length
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
