/** From ranked passages to an answer: names as they are written count more, each block counts once, and so do equal texts. Pure. */

import type { Passage } from "../passages/passage.ts"
import { USER_WEIGHT } from "../passages/passage-columns.ts"
import { answerFactor } from "./answer-kind.ts"
import { isFitting, matchedWords, type ParsedQuery, queryCoverage } from "./parsed-query.ts"
import { type Question, type RankedPassage, WEIGHTS } from "./ranking.ts"

export interface PassageMatch extends Passage {
  readonly source: string
  /** Where in the text the match is. */
  readonly at: number
  readonly score: number
  /** The share of the question, weighed by how rare its words are, that the passage and the turns around it have. */
  readonly coverage: number
  /** The words of the question that were found, for "why was this offered". */
  readonly words: readonly string[]
}

export interface PassageSearchResult {
  /** The best first. */
  readonly found: readonly PassageMatch[]
  /** Blocks that fit about as well. */
  readonly more: number
  /** False where what was found only shares a word with the question. */
  readonly isFitting: boolean
}

export const NOTHING_FOUND: PassageSearchResult = { found: [], more: 0, isFitting: false }

export interface RankedText extends RankedPassage, Pick<Passage, "text" | "uuid" | "blocks" | "isDialogue"> {
  readonly source: string
  /** Most are only compared. */
  readonly passage: () => Passage & { readonly source: string }
}

const DEFAULT_LIMIT = 10
/** What a name adds where it is written as in the question, and where only the case differs, beside the weight of its words. */
const SAME_CASE = 1
const OTHER_CASE = 0.6
/** Of the best score: what is below it only shares a few common words with the question. */
const MIN_SHARE = 0.35
/** Characters in which most of what matched should be. */
const WINDOW = 300

/** What was chosen of ranked passages, before its text is cut out. */
interface ChosenPassage extends Pick<PassageMatch, "source" | "score" | "coverage" | "words"> {
  readonly ranked: RankedText
  /** Where the passage has the question, or a name in it, word for word. */
  readonly at: number | undefined
}

export type ChosenPassages = Omit<PassageSearchResult, "found"> & { readonly chosen: readonly ChosenPassage[] }

export function choosePassages(
  texts: readonly RankedText[],
  question: Question,
  query: ParsedQuery,
): PassageSearchResult {
  const { chosen, ...rest } = chooseRanked(texts, question, query)
  const found = chosen.map(({ ranked, at, ...choice }) => ({
    ...{ ...ranked.passage(), ...choice },
    at: at ?? longestPhrase(ranked.text, query).at ?? matchCentre(ranked.text, query),
  }))
  return { ...rest, found }
}

export function chooseRanked(texts: readonly RankedText[], question: Question, query: ParsedQuery): ChosenPassages {
  const total = query.weights.reduce((sum, weight) => sum + weight, 0) || 1
  const factorOf = answerFactor(query.text, { ...WEIGHTS, ...question.weights })
  const scored = texts
    .map((ranked) => {
      const { bonus, at } = literalMatch(ranked.text, query, total * USER_WEIGHT)
      // what was said is ranked by the turns around it already; a long result has no other way to the top
      const row = ranked.isDialogue ? 0 : longestPhrase(ranked.text, query).share * total * USER_WEIGHT
      return {
        ranked,
        score: (ranked.isDialogue ? factorOf(ranked.text) : 1) * ranked.score + bonus + row,
        isLiteral: bonus > 0,
        at,
      }
    })
    .sort((a, b) => b.score - a.score)
  const isExact = scored[0]?.isLiteral === true
  const { limit = DEFAULT_LIMIT, isDistinct = true, isOnePerSource = false } = question
  const seen = new Set<string>()
  const chosen: ChosenPassage[] = []
  const fitting: { source: string; mask: number }[] = []
  let more = 0
  for (const { ranked, at, score } of scored) {
    const isClose = score >= MIN_SHARE * scored[0]!.score
    // beside the very name, its parts are noise
    if (isExact && !isClose) break
    const { source, uuid, blocks, text, mask } = ranked
    const keys = [isOnePerSource ? source : `${source} ${uuid} ${blocks}`, ...(isDistinct ? [text] : [])]
    if (keys.some((key) => seen.has(key))) continue
    for (const key of keys) seen.add(key)
    fitting.push({ source, mask })
    if (chosen.length < limit)
      chosen.push({ ranked, source, at, score, coverage: queryCoverage(mask, query), words: matchedWords(mask, query) })
    else if (isClose) more++
  }
  return { chosen, more, isFitting: isFitting(fitting, query) }
}

/** What the passage has word for word, and where all of the question is. */
function literalMatch(text: string, { names, text: question, words }: ParsedQuery, total: number) {
  const lower = text.toLowerCase()
  const isWhole = question.length > 2 && question.length <= text.length
  const whole = isWhole ? lower.indexOf(question.toLowerCase()) : -1
  let bonus = whole < 0 ? 0 : total
  const share = total / Math.max(1, names.length, words.length)
  for (const name of names) {
    const isExact = text.includes(name)
    if (isExact || lower.includes(name.toLowerCase())) bonus += share * (isExact ? SAME_CASE : OTHER_CASE)
  }
  return { bonus, at: whole < 0 ? undefined : whole }
}

const WORD = /[\p{L}\p{N}_]+/gu
const MIN_PHRASE_WORDS = 3 // words of the question that say something: fewer are side by side in many texts
const MAX_QUESTION = 100 // words

/**
 * The longest stretch of the question that the passage has word for word: "the signing key of the mailer" is in the text that answers the
 * question for it, and elsewhere only its words are. `share`: of the question's weight.
 */
function longestPhrase(text: string, { text: question, words, weights }: ParsedQuery) {
  const questionWords = question.toLowerCase().match(WORD)?.slice(0, MAX_QUESTION) ?? []
  const weightOf = new Map(words.map((word, at) => [word, weights[at]!]))
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1
  const nothing = { share: 0, at: undefined as number | undefined }
  if (words.length < MIN_PHRASE_WORDS) return nothing
  let before: number[] = []
  let best = nothing
  const starts: number[] = []
  for (const { 0: word, index } of text.toLowerCase().matchAll(WORD)) {
    const nth = starts.push(index) - 1
    const lengths: number[] = []
    for (const [at, wanted] of questionWords.entries()) if (wanted === word) lengths[at] = (before[at - 1] ?? 0) + 1
    for (const [at, length = 0] of lengths.entries()) {
      if (length < MIN_PHRASE_WORDS) continue
      const significant = new Set(questionWords.slice(at - length + 1, at + 1).filter((each) => weightOf.has(each)))
      if (significant.size < MIN_PHRASE_WORDS) continue
      const share = [...significant].reduce((sum, each) => sum + weightOf.get(each)!, 0) / total
      if (share > best.share) best = { share, at: Math.floor((starts[nth - length + 1]! + index + word.length) / 2) }
    }
    before = lengths
  }
  return best
}

/** Where most of the question's words and names are close together. */
function matchCentre(text: string, { terms, words, weights, names }: ParsedQuery): number {
  const lower = text.toLowerCase()
  const beginnings = new Map<string, number>()
  for (const { term, word } of terms) {
    if (word === undefined) continue
    beginnings.set(commonPrefix(term, words[word]!), weights[word]!)
  }
  const heaviest = Math.max(1, ...weights)
  for (const name of names) beginnings.set(name.toLowerCase(), heaviest)
  const occurrences = [...beginnings].flatMap(([beginning, weight]) =>
    findOccurrences(beginning, lower).map((at) => ({ at, weight, beginning })),
  )
  occurrences.sort((a, b) => a.at - b.at)
  let [best, narrowest, centre] = [0, 0, 0]
  for (const [from, { at: start }] of occurrences.entries()) {
    let [sum, end] = [0, start]
    const seen = new Set<string>()
    for (let next = from; next < occurrences.length && occurrences[next]!.at - start <= WINDOW; next++) {
      const { at, weight, beginning } = occurrences[next]!
      if (seen.has(beginning)) continue
      seen.add(beginning)
      sum += weight
      end = at
    }
    if (sum > best || (sum === best && end - start < narrowest))
      [best, narrowest, centre] = [sum, end - start, Math.floor((start + end) / 2)]
  }
  return centre
}

function findOccurrences(wanted: string, text: string): readonly number[] {
  const offsets: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) offsets.push(at)
  return offsets
}

/** The stem of a word may end in other letters than the word. */
function commonPrefix(term: string, word: string): string {
  let length = 0
  while (length < term.length && term[length] === word[length]) length++
  return length > 2 ? term.slice(0, length) : term
}
