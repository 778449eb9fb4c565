/**
 * Orders passages: BM25, with the weight of who said it, the score of the session, the turns around it, and the time that the question
 * names. Pure: the index and the search without one give it the same lists.
 */
import type { TimeSpan } from "./named-time.ts"
import type { Passage } from "./passage.ts"
import { type PassageColumns, PERSON_WEIGHT } from "./passage-columns.ts"

export interface Question {
  readonly text: string
  /** What the conversation is about, the newest last. It helps to choose, but cannot make a passage fit by itself. */
  readonly context?: readonly string[]
  /** "Last week" is counted from here. */
  readonly now: Date
  readonly limit?: number
  /** Only what the person and the assistant said. */
  readonly isSaid?: boolean
  readonly kind?: Passage["kind"]
  readonly since?: Date
  readonly until?: Date
  /** Only this source. Default: all. */
  readonly source?: string
  readonly exclude?: { readonly sources?: ReadonlySet<string>; readonly messages?: ReadonlySet<string> }
  /** A factor for what a source has, for what its owner knows about it. Default: 1. */
  readonly prior?: (source: string) => number
  /** Lists equal texts of different blocks once. Default: true. */
  readonly isDistinct?: boolean
  /** Weights other than the default ones, to measure what each is worth. */
  readonly weights?: Partial<Weights>
}

export interface Weights {
  /** BM25: how fast repetitions stop to count. */
  readonly k1: number
  /** BM25: how much a long passage, or a long session, is held back. */
  readonly b: number
  readonly sessionB: number
  /** How much the score of the session counts. */
  readonly session: number
  /** How much the score of the turn one or two places earlier or later counts. */
  readonly before: readonly [number, number]
  readonly after: readonly [number, number]
  /** The same for the turn before, if it asks something: then this one may answer it. */
  readonly reply: number
  readonly context: number
  /** A factor for what was said in the time that the question names. */
  readonly time: number
  /** How much more a passage counts that has all words of the question. */
  readonly together: number
}

export const WEIGHTS: Weights = {
  k1: 1.2,
  b: 0.5,
  sessionB: 0.75,
  session: 0.25,
  before: [0.4, 0.2],
  after: [0.4, 0.2],
  reply: 0.8,
  context: 0.15,
  time: 3,
  together: 0.5,
}

/** A term of the question and the passages that have it. */
export interface TermList {
  /** The rarer, the more it says. */
  readonly weight: number
  /** The word of the question that it is for: its place among the asked ones. `undefined`: it is of the context. */
  readonly word: number | undefined
  readonly isName: boolean
  readonly ids: readonly number[]
  /** Those that have it at least twice, and at least four times. */
  readonly twice: readonly number[]
  readonly often: readonly number[]
}

export interface Ranking {
  readonly columns: PassageColumns
  readonly lists: readonly TermList[]
  readonly time: TimeSpan | undefined
  /** Whether it asks for what the assistant said. */
  readonly isForAnswer: boolean
  readonly weights: Weights
  readonly fits: (id: number) => boolean
  /** The share of the question that words have. */
  readonly share: (mask: number) => number
  /** A factor for a passage. */
  readonly prior: (id: number) => number
}

export interface RankedPassage {
  readonly id: number
  readonly score: number
  /** Which words of the question the passage and the turns around it have, one bit for each. */
  readonly mask: number
}

const CANDIDATES = 200
/** Passages looked at to find the turns around one: a long answer has many. */
const MOST_STEPS = 300

/** The best first. Of two that are equally good, the newer. */
export function rankPassages(ranking: Ranking): readonly RankedPassage[] {
  const { scores, masks } = ranking.columns
  const touched: number[] = []
  try {
    return ranked(ranking, { ...scoresOf(ranking, touched), touched })
  } finally {
    for (const id of touched) {
      scores[id] = 0
      masks[id] = 0
    }
  }
}

function ranked(ranking: Ranking, { own, masks, sessions, touched }: Scores): readonly RankedPassage[] {
  const { columns, time, weights, prior, fits } = ranking
  const sessionPart = (id: number) =>
    (weights.session * sessions[columns.sessions[id]!]! * columns.weights[id]!) / PERSON_WEIGHT
  const candidates = bestOf(touched.filter(fits), (id) => own[id]! + sessionPart(id))
  const all = new Set(candidates)
  for (const id of candidates) for (const near of besideOf(id, { columns, masks })) if (fits(near)) all.add(near)
  const list: RankedPassage[] = []
  for (const id of all) {
    const near = columns.said[id] ? around(id, { columns, own, masks, weights }) : NOTHING
    const score =
      own[id]! * (1 + weights.together * ranking.share(masks[id]!)) +
      sessionPart(id) +
      (near.score * columns.weights[id]!) / PERSON_WEIGHT
    const factor = prior(id) * (time && isDuring(columns.times[id]!, time) ? weights.time : 1)
    if (score * factor > 0) list.push({ id, score: score * factor, mask: masks[id]! | near.mask })
  }
  return list.sort((a, b) => b.score - a.score || newerFirst(a.id, b.id, columns))
}

interface Scores {
  readonly own: Float32Array
  readonly masks: Int32Array
  /** By session. */
  readonly sessions: Float32Array
  readonly touched: readonly number[]
}

/** BM25 of every passage and of every session that has a term. `touched`: gets the passages. */
function scoresOf({ columns, lists, weights, isForAnswer }: Ranking, touched: number[]): Omit<Scores, "touched"> {
  const { k1, b, sessionB } = weights
  const { scores: own, masks } = columns
  const sessions = new Float32Array(columns.sessionLengths.length)
  const average = columns.total / columns.count || 1
  const sessionAverage = columns.sessionTotal / columns.sessionLengths.length || 1
  const saturated = (count: number, held: number) => (count * (k1 + 1)) / (count + held)
  for (const { weight, word, isName, ids, twice, often } of lists) {
    const bit = word === undefined ? 0 : 1 << word
    const inSession = new Map<number, number>()
    const add = (id: number, from: number, to: number) => {
      const said = isName || (isForAnswer && columns.kinds[id] === "assistant") ? PERSON_WEIGHT : columns.weights[id]!
      const held = k1 * (1 - b + (b * columns.lengths[id]!) / average)
      own[id]! += weight * said * (saturated(to, held) - (from === 0 ? 0 : saturated(from, held)))
      if (!columns.said[id]) return
      const session = columns.sessions[id]!
      inSession.set(session, (inSession.get(session) ?? 0) + ((to - from) * columns.weights[id]!) / PERSON_WEIGHT)
    }
    for (const id of ids) {
      if (id > columns.largest) continue
      if (own[id] === 0) touched.push(id)
      masks[id]! |= bit
      add(id, 0, 1)
    }
    for (const id of twice) if (id <= columns.largest) add(id, 1, 2)
    for (const id of often) if (id <= columns.largest) add(id, 2, 4)
    for (const [session, count] of inSession) {
      const held = k1 * (1 - sessionB + (sessionB * columns.sessionLengths[session]!) / sessionAverage)
      sessions[session]! += weight * PERSON_WEIGHT * saturated(count, held)
    }
  }
  return { own, masks, sessions }
}

function bestOf(ids: readonly number[], scoreOf: (id: number) => number): readonly number[] {
  let best: { readonly id: number; readonly score: number }[] = []
  let floor = Number.NEGATIVE_INFINITY
  const prune = () => {
    best = best.sort((a, b) => b.score - a.score || b.id - a.id).slice(0, CANDIDATES)
    if (best.length === CANDIDATES) floor = best.at(-1)!.score
  }
  for (const id of ids) {
    const score = scoreOf(id)
    if (score < floor) continue
    best.push({ id, score })
    if (best.length >= 4 * CANDIDATES) prune()
  }
  prune()
  return best.map(({ id }) => id)
}

const NOTHING = { score: 0, mask: 0 }

interface Around {
  readonly columns: PassageColumns
  readonly own: Float32Array
  readonly masks: Int32Array
  readonly weights: Weights
}

/** What the turns around a passage have. Of a long one, its best part counts. */
function around(id: number, { columns, own, masks, weights }: Around) {
  let [score, mask] = [0, 0]
  for (const step of [-1, 1]) {
    const best = [0, 0]
    let asks = false
    for (const { at, turns } of saidFrom(id, step, columns)) {
      // what is long says little about what is beside it
      best[turns - 1] = Math.max(best[turns - 1]!, (own[at]! * columns.weights[at]!) / PERSON_WEIGHT)
      mask |= masks[at]!
      if (turns === 1 && columns.questions[at]) asks = true
    }
    const [near, far] = step < 0 ? weights.before : weights.after
    score += best[0]! * (step < 0 && asks ? weights.reply : near) + best[1]! * far
  }
  return { score, mask }
}

/** The turns right beside a passage that says enough to make them worth reading: two words of the question, or it asks and they answer. */
function besideOf(id: number, { columns, masks }: Pick<Around, "columns" | "masks">): readonly number[] {
  if (!columns.said[id]) return []
  const isTelling = bitsIn(masks[id]!) > 1
  const beside: number[] = []
  for (const step of [-1, 1]) {
    if (!isTelling && !(step > 0 && columns.questions[id])) continue
    for (const { at, turns } of saidFrom(id, step, columns)) if (turns === 1) beside.push(at)
  }
  return beside
}

/** What was said up to two turns before or after a passage. */
function* saidFrom(id: number, step: number, columns: PassageColumns): Generator<{ at: number; turns: number }> {
  const { turns, sessions, said } = columns
  const next = step < 0 ? columns.before : columns.after
  for (let at = next[id]!, steps = 0; at > 0 && steps < MOST_STEPS; at = next[at]!, steps++) {
    if (!said[at]) continue
    const away = Math.abs(turns[at]! - turns[id]!)
    if (away > 2 || sessions[at] !== sessions[id]) return
    if (away > 0) yield { at, turns: away }
  }
}

export function bitsIn(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

const isDuring = (time: number, { from, to }: TimeSpan) => time >= from && time < to

const newerFirst = (a: number, b: number, { times }: PassageColumns) => times[b]! - times[a]! || b - a
