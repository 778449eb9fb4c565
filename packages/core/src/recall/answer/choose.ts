/**
 * From ranked passages to a search result: names written as in the question score higher, and each block and each text is listed once.
 * Pure.
 */

import type { Passage } from "../passages/passage.ts"
import { USER_WEIGHT } from "../passages/passage-columns.ts"
import { answerFactor } from "./answer-kind.ts"
import { isFitting, matchedWords, type ParsedQuery, queryCoverage } from "./parsed-query.ts"
import { type Question, type RankedPassage, WEIGHTS } from "./ranking.ts"

export interface PassageMatch extends Passage {
  readonly source: string
  /** Offset of the match in the text. */
  readonly at: number
  readonly score: number
  /** Share of the question, weighted by the rarity of its words, that the passage and the turns around it contain. */
  readonly coverage: number
  /** The words of the question that were found, to explain why the passage was offered. */
  readonly words: readonly string[]
}

export interface PassageSearchResult {
  /** Best first. */
  readonly found: readonly PassageMatch[]
  /** Number of further blocks with similar scores. */
  readonly more: number
  /** False if the matches only share a word with the question. */
  readonly isFitting: boolean
}

export const NOTHING_FOUND: PassageSearchResult = { found: [], more: 0, isFitting: false }

export interface RankedText extends RankedPassage, Pick<Passage, "text" | "uuid" | "blocks" | "isDialogue"> {
  readonly source: string
  /** Creates the passage on demand, because most texts are only compared. */
  readonly passage: () => Passage & { readonly source: string }
}

const DEFAULT_LIMIT = 10
/** Bonus for a name that is written as in the question, in addition to the weight of its words. The second is for a different case. */
const SAME_CASE = 1
const OTHER_CASE = 0.6
/** Share of the best score. Texts below it share only a few common words with the question. */
const MIN_SHARE = 0.35
/** Length in characters of the excerpt that should contain most of the match. */
const WINDOW = 300

/** A chosen passage before its excerpt is cut out. */
interface ChosenPassage extends Pick<PassageMatch, "source" | "score" | "coverage" | "words"> {
  readonly ranked: RankedText
  /** Offset at which the passage contains the question, or a name in it, literally. */
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
      // dialogue already profits from the turns around it; a long tool result has no other way to the top
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
    // if the exact name was found, passages with only parts of it are noise
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

/** Bonus for names and for the question itself, if the passage contains them literally, and the offset of the question. */
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
const MIN_PHRASE_WORDS = 3 // significant words of the question: shorter phrases occur in many texts
const MAX_QUESTION = 100 // words

/**
 * The longest phrase of the question that the passage contains literally: "the signing key of the mailer" occurs in the text that
 * answers the question, while other texts only contain its words. `share`: of the question's weight.
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

/** Offset around which most of the question's words and names are close together. */
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

/** The common prefix of a stem and its word, which may end in different letters. */
function commonPrefix(term: string, word: string): string {
  let length = 0
  while (length < term.length && term[length] === word[length]) length++
  return length > 2 ? term.slice(0, length) : term
}
