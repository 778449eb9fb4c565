/**
 * Orders candidate passages: BM25 that also counts the neighbours of a passage, its title, the time and the speaker that the question names,
 * and how recent it is. Pure. The weights were chosen on generated dialogues (docs/figures.md).
 */
import type { TimeSpan } from "./named-time.ts"
import type { Passage } from "./passage.ts"
import type { Wanted } from "./wanted.ts"

export interface Question {
  readonly text: string
  /** What the conversation is about, the newest last. It helps to choose, but cannot make a passage fit by itself. */
  readonly context?: readonly string[]
  readonly now: Date
  readonly limit?: number
  /** A factor for a passage, for what its owner knows about it: its type, whether it was confirmed. Default: 1. */
  readonly prior?: (passage: Pick<Passage, "source" | "speaker">) => number
  /** Weights other than the default ones, to measure what each is worth. */
  readonly weights?: Partial<Weights>
}

export interface Found {
  readonly passage: Passage
  readonly score: number
  /** The share of the question, weighed by how rare its words are, that the passage and its neighbours contain. */
  readonly coverage: number
  /** The words of the question that were found, for "why was this offered". */
  readonly words: readonly string[]
}

/** A passage as the ranking needs it. */
export interface Indexed {
  readonly id: number
  readonly source: string
  readonly position: number
  readonly speaker?: string
  /** Milliseconds since 1970. */
  readonly time?: number
  /** Stems, separated by spaces. */
  readonly terms: string
  readonly titleTerms: string
  readonly length: number
  /** Whether it asks something: then the next one may answer it. */
  readonly isQuestion: boolean
}

export type Ranked = Omit<Found, "passage"> & { readonly passage: Indexed }

export interface Ranking {
  /** The candidates and their neighbours. */
  readonly passages: readonly Indexed[]
  readonly wanted: readonly Wanted[]
  readonly time: TimeSpan | undefined
  readonly weights: Weights
  readonly averageLength: number
}

export interface Weights {
  /** BM25: how fast repetitions stop to count. */
  readonly k1: number
  /** BM25: how much a long passage is held back. */
  readonly b: number
  readonly title: number
  /** How much the score of the passage one or two places earlier or later counts. */
  readonly before: readonly [number, number]
  readonly after: readonly [number, number]
  /** The same for the passage before, if it asks something: then this one may answer it. */
  readonly reply: number
  readonly context: number
  /** The rest are factors for a passage that has the property, in full. */
  readonly speaker: number
  readonly time: number
  readonly recency: number
  /** A passage that covers this much of the question is enough. */
  readonly leastCoverage: number
  /** So are the best passages of five sources that contain this share of its terms, if one of them contains two. */
  readonly leastTogether: number
}

export const WEIGHTS: Weights = {
  k1: 1.2,
  b: 0.4,
  title: 2,
  before: [0.4, 0.2],
  after: [0.4, 0.2],
  reply: 0.8,
  context: 0.15,
  speaker: 2,
  time: 3,
  recency: 1.3,
  leastCoverage: 0.3,
  leastTogether: 0.4,
}

const RECENCY_DAYS = 90
/** A long message is about several things. What contains this many of its rarest words covers it. */
const ENOUGH_TERMS = 6
const SOURCES_TOGETHER = 5 // as many as are offered
const DAY = 86_400_000

export function rankPassages({ now, prior, limit = 10 }: Question, ranking: Ranking): readonly Ranked[] {
  const { passages, wanted, time, weights } = ranking
  const asked = wanted.filter(({ isAsked }) => isAsked)
  const whole = sum(
    asked
      .map(({ weight }) => weight)
      .toSorted((a, b) => b - a)
      .slice(0, ENOUGH_TERMS),
  )
  if (whole === 0) return []
  const scorer = scorerFor(ranking)
  const share = (mask: number) =>
    Math.min(1, sum(asked.map(({ weight }, at) => (mask & (1 << at) ? weight : 0))) / whole)
  const found: Scored[] = []
  for (const inSource of Map.groupBy(passages, ({ source }) => source).values()) {
    const matches = new Map(inSource.map((passage) => [passage.position, scorer(passage)]))
    for (const passage of inSource) {
      const { score, mask } = around(passage.position, matches, weights)
      if (score === 0) continue
      const factor =
        graded(weights.speaker, isSpeaker(passage, asked) ? 1 : 0) *
        graded(weights.time, time && isDuring(passage, time) ? 1 : 0) *
        graded(weights.recency, freshness(passage, now)) *
        (prior?.(passage) ?? 1)
      if (factor > 0) found.push({ passage, score: factor * score, mask, coverage: share(mask) })
    }
  }
  const best = found.sort(
    (a, b) =>
      b.score - a.score || compare(a.passage.source, b.passage.source) || a.passage.position - b.passage.position,
  )
  if (!isEnough(best, { terms: asked.length, weights })) return []
  return best
    .slice(0, limit)
    .map(({ mask, ...rest }) => ({ ...rest, words: asked.filter((_, at) => mask & (1 << at)).map(({ word }) => word) }))
}

interface Scored {
  readonly passage: Indexed
  readonly score: number
  readonly coverage: number
  readonly mask: number
}

/** A question of several parts has its answers in several sources. Each covers little of it, so they count together too. */
function isEnough(best: readonly Scored[], { terms, weights }: { terms: number; weights: Weights }): boolean {
  if (best.some(({ coverage }) => coverage >= weights.leastCoverage)) return true
  if (!best.some(({ mask }) => bitsIn(mask) > 1)) return false
  const together = new Map<string, number>()
  for (const { passage, mask } of best) {
    if (!together.has(passage.source)) together.set(passage.source, mask)
    if (together.size === SOURCES_TOGETHER) break
  }
  let all = 0
  for (const mask of together.values()) all |= mask
  return bitsIn(all) >= weights.leastTogether * terms
}

function bitsIn(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

interface Match {
  readonly score: number
  /** Which terms of the question match, one bit for each. */
  readonly mask: number
  readonly isQuestion: boolean
}

/** BM25 of one passage. */
function scorerFor({ wanted, weights, averageLength }: Ranking): (passage: Indexed) => Match {
  const places = new Map(wanted.map(({ stem }, at) => [stem, at]))
  const counts = new Float64Array(wanted.length)
  const count = (terms: string, step: number) => {
    for (const term of terms.split(" ")) {
      const at = places.get(term)
      if (at !== undefined) counts[at]! += step
    }
  }
  return ({ terms, titleTerms, length, isQuestion }) => {
    counts.fill(0)
    count(terms, 1)
    count(titleTerms, weights.title)
    const held = weights.k1 * (1 - weights.b + (weights.b * length) / (averageLength || 1))
    let [score, mask] = [0, 0]
    for (const [at, { weight, isAsked }] of wanted.entries()) {
      const frequency = counts[at]!
      if (frequency === 0) continue
      score += (weight * frequency * (weights.k1 + 1)) / (frequency + held)
      if (isAsked) mask |= 1 << at
    }
    return { score, mask, isQuestion }
  }
}

/** The passage itself and those around it. */
function around(position: number, matches: ReadonlyMap<number, Match>, { before, after, reply }: Weights) {
  let [score, mask] = [0, 0]
  const add = (step: number, weight: number) => {
    const match = matches.get(position + step)
    if (!match || weight === 0) return
    score += weight * match.score
    mask |= match.mask
  }
  add(-2, before[1])
  add(-1, matches.get(position - 1)?.isQuestion ? reply : before[0])
  add(0, 1)
  add(1, after[0])
  add(2, after[1])
  return { score, mask }
}

const isSpeaker = ({ speaker }: Indexed, asked: readonly Wanted[]) =>
  speaker !== undefined && asked.some(({ word }) => word === speaker.toLowerCase())

/** 1 where the share is 0, the factor where it is 1. */
const graded = (factor: number, share: number) => 1 + (factor - 1) * share

const isDuring = ({ time }: Indexed, { from, to }: TimeSpan) => time !== undefined && time >= from && time < to

/** 1 for now, half of it about every 60 days. */
const freshness = ({ time }: Indexed, now: Date) =>
  time === undefined ? 0 : Math.exp(-Math.max(0, now.getTime() - time) / (RECENCY_DAYS * DAY))

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
