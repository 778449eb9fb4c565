/**
 * Orders candidate passages: BM25 that also counts the neighbours of a passage, its title, how much of the question its source covers, the
 * time the question names, and how recent it is. Pure. The weights were chosen on generated dialogues (docs/figures.md).
 */

import { type Term, termsOf } from "../base/terms.ts"
import { type NamedTime, type TimeSpan, timeNamedIn } from "./named-time.ts"
import type { Passage } from "./passage.ts"

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
  /** How much the score of the passage one or two places earlier or later counts. */
  readonly before: readonly [number, number]
  readonly after: readonly [number, number]
  /** The same for the passage before, if it asks something: then this one may answer it. */
  readonly reply: number
  readonly context: number
  /** The rest are factors for a passage that has the property, in full. */
  readonly source: number
  readonly speaker: number
  readonly time: number
  readonly recency: number
  /** If no passage covers this much of the question, nothing is found. */
  readonly leastCoverage: number
}

export const WEIGHTS: Weights = {
  k1: 1.2,
  b: 0.6,
  title: 2,
  before: [0.3, 0.1],
  after: [0.3, 0.1],
  reply: 0.8,
  context: 0.15,
  source: 1.6,
  speaker: 2,
  time: 2,
  recency: 1.1,
  leastCoverage: 0.3,
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
  const found = [...Map.groupBy(collection.passages, ({ source }) => source).values()]
    .flatMap((passages) => {
      const matches = new Map(
        passages.map((passage) => [passage.position, matchOf(passage, { wanted, collection, weights })]),
      )
      const inSource = shareOf(asked, [...matches.values()], whole)
      return passages.map((passage): Found => {
        const around = neighboursOf(passage.position, matches, weights)
        const hit = asked.filter(({ stem }) => around.some(({ match }) => match.stems.has(stem)))
        const factors = [
          graded(weights.source, inSource),
          graded(weights.speaker, isSpeaker(passage, asked) ? 1 : 0),
          graded(weights.time, time && isDuring(passage, time) ? 1 : 0),
          graded(weights.recency, freshness(passage, question.now)),
          question.prior?.(passage) ?? 1,
        ]
        return {
          passage: withoutTerms(passage),
          score: factors.reduce(
            (product, factor) => product * factor,
            sum(around.map(({ match, weight }) => weight * match.score)),
          ),
          coverage: Math.min(1, sum(hit.map(({ weight }) => weight)) / whole),
          words: hit.map(({ word }) => word),
        }
      })
    })
    .filter(({ score }) => score > 0)
    .sort(
      (a, b) =>
        b.score - a.score || compare(a.passage.source, b.passage.source) || a.passage.position - b.passage.position,
    )
  // a question of several parts has its answers in several passages, so only the best one has to cover enough
  return found.some(({ coverage }) => coverage >= weights.leastCoverage) ? found.slice(0, question.limit ?? 10) : []
}

interface Match {
  readonly score: number
  readonly stems: ReadonlySet<string>
  readonly isQuestion: boolean
}

interface Matching {
  readonly wanted: readonly Wanted[]
  readonly collection: Collection
  readonly weights: Weights
}

/** BM25 of one passage. */
function matchOf({ text, terms, titleTerms }: Indexed, { wanted, collection, weights }: Matching): Match {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  for (const term of titleTerms) counts.set(term, (counts.get(term) ?? 0) + weights.title)
  const length = 1 - weights.b + (weights.b * terms.length) / (collection.averageLength || 1)
  const matched = wanted.filter(({ stem }) => counts.has(stem))
  const score = sum(
    matched.map(({ stem, weight }) => {
      const frequency = counts.get(stem)!
      return (weight * frequency * (weights.k1 + 1)) / (frequency + weights.k1 * length)
    }),
  )
  return { score, stems: new Set(matched.map(({ stem }) => stem)), isQuestion: /[?？]/.test(text) }
}

/** The passage itself and those around it that match something, each with its weight. */
function neighboursOf(position: number, matches: ReadonlyMap<number, Match>, { before, after, reply }: Weights) {
  const asksBefore = matches.get(position - 1)?.isQuestion ?? false
  const weights = [
    [-2, before[1]],
    [-1, asksBefore ? reply : before[0]],
    [0, 1],
    [1, after[0]],
    [2, after[1]],
  ] as const
  return weights.flatMap(([step, weight]) => {
    const match = matches.get(position + step)
    return match && match.score > 0 && weight > 0 ? [{ match, weight }] : []
  })
}

function shareOf(asked: readonly Wanted[], matches: readonly Match[], whole: number): number {
  const found = asked.filter(({ stem }) => matches.some(({ stems }) => stems.has(stem)))
  return Math.min(1, sum(found.map(({ weight }) => weight)) / whole)
}

const isSpeaker = ({ speaker }: Passage, asked: readonly Wanted[]) =>
  speaker !== undefined && asked.some(({ word }) => word === speaker.toLowerCase())

/** 1 where the share is 0, the factor where it is 1. */
const graded = (factor: number, share: number) => 1 + (factor - 1) * share

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
