/**
 * Orders candidate passages: BM25 that also counts the neighbours of a passage, its title, how much of the question its source covers, the
 * time the question names, and how recent it is. Pure. The weights were chosen on generated dialogues (docs/figures.md).
 */
import { type NamedTime, type TimeSpan, timeNamedIn } from "./named-time.ts"
import type { Passage } from "./passage.ts"
import { type Term, termsOf } from "./terms.ts"

export interface Question {
  readonly text: string
  /** What the conversation is about, the newest last. It helps to choose, but cannot make a passage fit by itself. */
  readonly context?: readonly string[]
  readonly now: Date
  readonly limit?: number
  /** A factor for a passage, for what its owner knows about it: its type, whether it was confirmed. Default: 1. */
  readonly prior?: (passage: Passage) => number
  /** Weights other than the default ones, to measure what each is worth. */
  readonly weights?: Partial<Weights>
}

export interface Indexed extends Passage {
  readonly terms: readonly string[]
  readonly titleTerms: readonly string[]
}

export interface Found {
  readonly passage: Passage
  readonly score: number
  /** The share of the question, weighed by how rare its words are, that the passage and its neighbours contain. */
  readonly coverage: number
  /** The words of the question that were found, for "why was this offered". */
  readonly words: readonly string[]
}

export interface Collection {
  /** The candidates and their neighbours. */
  readonly passages: readonly Indexed[]
  /** Of the whole index. */
  readonly count: number
  readonly averageLength: number
  readonly documentsWith: (term: string) => number
}

export interface Weights {
  /** BM25: how fast repetitions stop to count. */
  readonly k1: number
  /** BM25: how much a long passage is held back. */
  readonly b: number
  readonly title: number
  /** How much a word counts that is one or two passages earlier or later. */
  readonly before: readonly [number, number]
  readonly after: readonly [number, number]
  readonly context: number
  readonly source: number
  readonly time: number
  readonly recency: number
  /** A passage that covers less of the question is about something else. */
  readonly leastCoverage: number
}

export const WEIGHTS: Weights = {
  k1: 1.2,
  b: 0.6,
  title: 1,
  before: [0.5, 0.2],
  after: [0.3, 0.1],
  context: 0.15,
  source: 0.6,
  time: 1.5,
  recency: 0.1,
  leastCoverage: 0.34,
}

const RECENCY_DAYS = 90
const MOST_CONTEXT_TERMS = 40
/** A long message is about several things. What contains this many of its rarest words covers it. */
const ENOUGH_TERMS = 6
const DAY = 86_400_000

interface Wanted {
  readonly stem: string
  readonly word: string
  readonly weight: number
  /** Of the question itself, not of the context. */
  readonly isAsked: boolean
}

export function rankPassages(question: Question, collection: Collection): readonly Found[] {
  const weights = { ...WEIGHTS, ...question.weights }
  const time = timeNamedIn(question.text, question.now)
  const wanted = wantedTerms(question, { collection, weights, time })
  const asked = wanted.filter(({ isAsked }) => isAsked)
  const whole = sum(
    asked
      .map(({ weight }) => weight)
      .toSorted((a, b) => b - a)
      .slice(0, ENOUGH_TERMS),
  )
  if (whole === 0) return []
  return [...Map.groupBy(collection.passages, ({ source }) => source).values()]
    .flatMap((passages) => {
      const at = new Map(passages.map((passage) => [passage.position, countsOf(passage, weights)]))
      const sourceCoverage =
        sum(
          asked.filter(({ stem }) => [...at.values()].some((counts) => counts.has(stem))).map(({ weight }) => weight),
        ) / whole
      return passages.map((passage): Found => {
        const length = 1 - weights.b + (weights.b * passage.terms.length) / (collection.averageLength || 1)
        const matched = wanted
          .map((term) => ({ ...term, frequency: frequencyAround(at, passage.position, term.stem, weights) }))
          .filter(({ frequency }) => frequency > 0)
        const bm25 = sum(
          matched.map(
            ({ weight, frequency }) => (weight * frequency * (weights.k1 + 1)) / (frequency + weights.k1 * length),
          ),
        )
        const hit = matched.filter(({ isAsked }) => isAsked)
        const factors = [
          1 + weights.source * sourceCoverage,
          time && isDuring(passage, time) ? weights.time : 1,
          1 + weights.recency * freshness(passage, question.now),
          question.prior?.(passage) ?? 1,
        ]
        return {
          passage: withoutTerms(passage),
          score: factors.reduce((product, factor) => product * factor, bm25),
          coverage: Math.min(1, sum(hit.map(({ weight }) => weight)) / whole),
          words: hit.map(({ word }) => word),
        }
      })
    })
    .filter(({ score, coverage }) => score > 0 && coverage >= weights.leastCoverage)
    .sort(
      (a, b) =>
        b.score - a.score || compare(a.passage.source, b.passage.source) || a.passage.position - b.passage.position,
    )
    .slice(0, question.limit ?? 10)
}

interface Circumstances {
  readonly collection: Collection
  readonly weights: Weights
  readonly time: NamedTime | undefined
}

/** The words that name a time are compared with times. As words they count no more than context does. */
function wantedTerms(
  { text, context = [] }: Question,
  { collection, weights, time }: Circumstances,
): readonly Wanted[] {
  const rarity = (stem: string) => {
    const documents = collection.documentsWith(stem)
    return Math.log(1 + (collection.count - documents + 0.5) / (documents + 0.5))
  }
  const distinct = (terms: readonly Term[]) => [...new Map(terms.map(({ stem, word }) => [stem, word]))]
  const asked = distinct(termsOf(time ? text.replace(time.phrase, " ") : text))
  const isAsked = new Set(asked.map(([stem]) => stem))
  const around = distinct([...context.flatMap(termsOf), ...termsOf(time?.phrase ?? "")].slice(-MOST_CONTEXT_TERMS))
  return [
    ...asked.map(([stem, word]) => ({ stem, word, weight: rarity(stem), isAsked: true })),
    ...around
      .filter(([stem]) => !isAsked.has(stem))
      .map(([stem, word]) => ({ stem, word, weight: weights.context * rarity(stem), isAsked: false })),
  ]
}

type Counts = ReadonlyMap<string, number>

function countsOf({ terms, titleTerms }: Indexed, { title }: Weights): Counts {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  for (const term of titleTerms) counts.set(term, (counts.get(term) ?? 0) + title)
  return counts
}

function frequencyAround(
  at: ReadonlyMap<number, Counts>,
  position: number,
  stem: string,
  { before, after }: Weights,
): number {
  const has = (step: number) => (at.get(position + step)?.has(stem) ? 1 : 0)
  const own = at.get(position)!.get(stem) ?? 0
  return own + before[0] * has(-1) + before[1] * has(-2) + after[0] * has(1) + after[1] * has(2)
}

function isDuring({ time }: Passage, { from, to }: TimeSpan): boolean {
  const at = time === undefined ? Number.NaN : Date.parse(time)
  return at >= from && at < to
}

/** 1 for now, half of it about every 60 days. */
function freshness({ time }: Passage, now: Date): number {
  if (time === undefined) return 0
  return Math.exp(-Math.max(0, now.getTime() - Date.parse(time)) / (RECENCY_DAYS * DAY))
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function withoutTerms({ terms: _, titleTerms: __, ...passage }: Indexed): Passage {
  return passage
}
