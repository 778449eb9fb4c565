/** What a question looks for: its words, each with the terms that stand for it in an index, and how much each says. */

import { namesAsWritten, type QuestionTerm, questionTerms } from "../passages/passage-terms.ts"
import { type NamedTime, timeNamedIn } from "./named-time.ts"
import { isAboutTalk, isForSummary, isOfTalk } from "./question-frame.ts"
import { bitsIn, type Question, type Weights } from "./ranking.ts"

/** Only the rarest words count, in a mask of 32 bits. */
const MAX_ASKED = 24
const MAX_CONTEXT_TERMS = 40
/** A term that only begins like a word of the question. */
const SIMILAR = 0.5
/** Words for which such terms are looked up. */
export const MAX_MISSED = 4
/** A long message is about several things. What has this many of its rarest words covers it. */
const ENOUGH_WORDS = 6

/** A passage that covers this much of the question fits. */
const MIN_COVERAGE = 0.3
/** So do the best passages of five sources that have this share of its words, if one of them has two. */
const MIN_TOGETHER = 0.4
const SOURCES_TOGETHER = 5

interface WantedTerm {
  readonly term: string
  /** In how many passages it is. */
  readonly documents: number
  readonly weight: number
  readonly isName: boolean
  /** The word that it is for. `undefined`: of the context. */
  readonly word: number | undefined
}

export interface LookedFor {
  /** The words of the question that can tell passages apart, as written. */
  readonly words: readonly string[]
  /** By word. */
  readonly weights: readonly number[]
  /** The weight of what covers all of it. */
  readonly whole: number
  /** The rarest first. */
  readonly terms: readonly WantedTerm[]
  readonly names: readonly string[]
  readonly text: string
  readonly time: NamedTime | undefined
  /** Whether it asks for what the assistant said: then long answers are not held back. */
  readonly isForAnswer: boolean
}

const FOR_ANSWER =
  /\b(?:did you|have you|you (?:said|told|gave|wrote|listed|mentioned|suggested|proposed|recommended|explained|provided)|your (?:answer|advice|list|proposal|suggestion|recommendation)s?)\b/i

export interface Vocabulary {
  /** Passages in the index. */
  readonly count: number
  readonly documentsWith: (term: string) => number
  /** Terms that begin with this one, or contain it. */
  readonly similarTo: (term: string, isName: boolean) => readonly string[]
}

/** The terms of a question, before it is known which passages have them. */
export interface AskedTerms {
  readonly asked: readonly QuestionTerm[]
  /** Of the context. None of them is asked. */
  readonly around: readonly string[]
  readonly time: NamedTime | undefined
}

/** The words that name a time are compared with times. As words they count no more than context does, and so do those that are about the talk. */
export function termsAsked({ text, context = [], now }: Question): AskedTerms {
  const time = timeNamedIn(text, now)
  const all = questionTerms(time ? text.replace(time.phrase, " ") : text)
  const ofTalk = isAboutTalk(text) ? all.filter(({ word }) => isOfTalk(word)) : []
  const asked = ofTalk.length === all.length ? all : all.filter((term) => !ofTalk.includes(term))
  const isAsked = new Set(asked.map(({ term }) => term))
  const around = [...[...context, time?.phrase ?? ""].flatMap((each) => questionTerms(each)), ...ofTalk]
    .slice(-MAX_CONTEXT_TERMS)
    .flatMap(({ term }) => (isAsked.has(term) ? [] : term))
  return { asked, around, time }
}

interface Looking extends AskedTerms {
  readonly text: string
  readonly vocabulary: Vocabulary
  readonly weights: Weights
}

export function lookedFor({ text, vocabulary, weights, ...terms }: Looking): LookedFor {
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
  const similar = missed.slice(0, MAX_MISSED).map(({ term, isName, ...rest }) => ({
    ...{ ...rest, isName },
    others: vocabulary.similarTo(term, isName).map(weighed),
  }))
  const found = similar.filter(({ others }) => others.length > 0)
  const words = [...known, ...found, ...missed.filter(({ name }) => !found.some((one) => one.name === name))]
    .slice(0, MAX_ASKED)
    .map(({ name, weight }) => ({ name, weight }))
  const place = new Map(words.map(({ name }, at) => [name, at]))
  const own = known.flatMap(({ name, ...term }) => (place.has(name) ? [{ ...term, word: place.get(name)! }] : []))
  const others = found.flatMap(({ others: terms, name, isName }) =>
    terms.map((term) => ({ ...term, weight: SIMILAR * term.weight, isName, word: place.get(name) })),
  )
  const around = terms.around
    .map(weighed)
    .filter(({ documents }) => documents > 0)
    .map((term) => ({ ...term, weight: weights.context * term.weight, isName: false, word: undefined }))
  return {
    words: words.map(({ name }) => name),
    weights: words.map(({ weight }) => weight),
    whole: sum(
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

/** The share of the question, weighed by how rare its words are. */
export function coverageOf(mask: number, { weights, whole }: LookedFor): number {
  let covered = 0
  for (let at = 0; at < weights.length; at++) if (mask & (1 << at)) covered += weights[at]! // asked for every candidate
  return whole === 0 ? 0 : Math.min(1, covered / whole)
}

/**
 * The words of which a passage or a turn around it has at least one, if together they cover this share of the question: all others cover
 * less. None: no passage covers so much.
 */
export function neededFor(share: number, { terms, weights, whole }: LookedFor): ReadonlySet<number> {
  const min = share * whole * (1 - ROUNDING)
  const known = [...new Set(terms.flatMap(({ word }) => word ?? []))].sort((a, b) => weights[a]! - weights[b]!)
  let covered = 0
  const isNeeded = (word: number) => {
    covered += weights[word]!
    return covered >= min
  }
  return new Set(known.filter(isNeeded))
}

/** Sums of the same weights in another order differ by less. */
const ROUNDING = 1e-9

export const wordsIn = (mask: number, { words }: LookedFor): readonly string[] =>
  words.filter((_, at) => mask & (1 << at))

/**
 * Whether what was found fits the question, or only shares a word with it. A question of several parts has its answers in several sources:
 * each covers little of it, so they count together too.
 */
export function isFitting(
  found: readonly { readonly source: string; readonly mask: number }[],
  question: LookedFor,
): boolean {
  if (found.some(({ mask }) => coverageOf(mask, question) >= MIN_COVERAGE)) return true
  if (!found.some(({ mask }) => bitsIn(mask) > 1)) return false
  const together = new Map<string, number>()
  for (const { source, mask } of found) {
    if (!together.has(source)) together.set(source, mask)
    if (together.size === SOURCES_TOGETHER) break
  }
  let all = 0
  for (const mask of together.values()) all |= mask
  return bitsIn(all) >= MIN_TOGETHER * question.words.length
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
