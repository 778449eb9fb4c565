/** From ranked passages to an answer: names as they are written count more, each block counts once, and so do equal texts. Pure. */
import { coverageOf, isFitting, type LookedFor, wordsIn } from "./looked-for.ts"
import type { Passage } from "./passage.ts"
import { PERSON_WEIGHT } from "./passage-columns.ts"
import type { Question, RankedPassage } from "./ranking.ts"

export interface Found extends Passage {
  readonly source: string
  /** Where in the text the match is. */
  readonly at: number
  readonly score: number
  /** The share of the question, weighed by how rare its words are, that the passage and the turns around it have. */
  readonly coverage: number
  /** The words of the question that were found, for "why was this offered". */
  readonly words: readonly string[]
}

export interface SearchAnswer {
  /** The best first. */
  readonly found: readonly Found[]
  /** Blocks that fit about as well. */
  readonly more: number
  /** False where what was found only shares a word with the question. */
  readonly isFitting: boolean
}

export const NOTHING_FOUND: SearchAnswer = { found: [], more: 0, isFitting: false }

export interface RankedText extends RankedPassage, Pick<Passage, "text" | "uuid" | "blocks"> {
  readonly source: string
  /** Most are only compared. */
  readonly passage: () => Passage & { readonly source: string }
}

const DEFAULT_LIMIT = 10
/** What a name adds where it is written as in the question, and where only the case differs, beside the weight of its words. */
const AS_WRITTEN = 1
const OTHER_CASE = 0.6
/** Of the best score: what is below it only shares a few common words with the question. */
const LEAST_SHARE = 0.35
/** Characters in which most of what matched should be. */
const WINDOW = 300

/** What was chosen of ranked passages, before its text is cut out. */
export interface Choice extends Pick<Found, "source" | "score" | "coverage" | "words"> {
  readonly ranked: RankedText
  /** Where the passage has the question, or a name in it, word for word. */
  readonly at: number | undefined
}

export type Choices = Omit<SearchAnswer, "found"> & { readonly chosen: readonly Choice[] }

export function chooseFrom(texts: readonly RankedText[], question: Question, asked: LookedFor): SearchAnswer {
  const { chosen, ...rest } = choicesFrom(texts, question, asked)
  const found = chosen.map(({ ranked, at, ...choice }) => ({
    ...{ ...ranked.passage(), ...choice },
    at: at ?? centreOf(ranked.text, asked),
  }))
  return { ...rest, found }
}

export function choicesFrom(texts: readonly RankedText[], question: Question, asked: LookedFor): Choices {
  const total = asked.weights.reduce((sum, weight) => sum + weight, 0) || 1
  const scored = texts
    .map((ranked) => {
      const { bonus, at } = literally(ranked.text, asked, total * PERSON_WEIGHT)
      return { ranked, score: ranked.score + bonus, isLiteral: bonus > 0, at }
    })
    .sort((a, b) => b.score - a.score)
  const isExact = scored[0]?.isLiteral === true
  const { limit = DEFAULT_LIMIT, isDistinct = true } = question
  const seen = new Set<string>()
  const chosen: Choice[] = []
  const fitting: { source: string; mask: number }[] = []
  let more = 0
  for (const { ranked, at, score } of scored) {
    const isClose = score >= LEAST_SHARE * scored[0]!.score
    // beside the very name, its parts are noise
    if (isExact && !isClose) break
    const { source, uuid, blocks, text, mask } = ranked
    const keys = [`${source} ${uuid} ${blocks}`, ...(isDistinct ? [text] : [])]
    if (keys.some((key) => seen.has(key))) continue
    for (const key of keys) seen.add(key)
    fitting.push({ source, mask })
    if (chosen.length < limit)
      chosen.push({ ranked, source, at, score, coverage: coverageOf(mask, asked), words: wordsIn(mask, asked) })
    else if (isClose) more++
  }
  return { chosen, more, isFitting: isFitting(fitting, asked) }
}

/** What the passage has word for word, and where the first of it is. */
function literally(text: string, { names, text: question, words }: LookedFor, total: number) {
  const lower = text.toLowerCase()
  const isWhole = question.length > 2 && question.length <= text.length
  const whole = isWhole ? lower.indexOf(question.toLowerCase()) : -1
  let [bonus, at] = whole < 0 ? [0, undefined as number | undefined] : [total, whole]
  const share = total / Math.max(1, names.length, words.length)
  let longest = 0
  for (const name of names) {
    const exact = text.indexOf(name)
    const place = exact < 0 ? lower.indexOf(name.toLowerCase()) : exact
    if (place < 0) continue
    bonus += share * (exact < 0 ? OTHER_CASE : AS_WRITTEN)
    if (whole >= 0 || name.length <= longest) continue
    longest = name.length
    at = place
  }
  return { bonus, at }
}

/** Where most of the question's words are close together. */
export function centreOf(text: string, { terms, words, weights }: LookedFor): number {
  const lower = text.toLowerCase()
  const beginnings = new Map<string, number>()
  for (const { term, word } of terms) {
    if (word === undefined) continue
    beginnings.set(sharedBeginning(term, words[word]!), weights[word]!)
  }
  const places: { at: number; weight: number }[] = []
  for (const [beginning, weight] of beginnings) {
    for (
      let at = lower.indexOf(beginning), count = 0;
      at >= 0 && count < 8;
      at = lower.indexOf(beginning, at + 1), count++
    )
      places.push({ at, weight })
  }
  places.sort((a, b) => a.at - b.at)
  let [best, centre] = [0, 0]
  for (const [from, { at: start }] of places.entries()) {
    let [sum, end] = [0, start]
    const seen = new Set<number>()
    for (const { at, weight } of places.slice(from)) {
      if (at - start > WINDOW) break
      if (seen.has(weight)) continue
      seen.add(weight)
      sum += weight
      end = at
    }
    if (sum > best) [best, centre] = [sum, Math.floor((start + end) / 2)]
  }
  return centre
}

/** The stem of a word may end in other letters than the word. */
function sharedBeginning(term: string, word: string): string {
  let length = 0
  while (length < term.length && term[length] === word[length]) length++
  return length > 2 ? term.slice(0, length) : term
}
