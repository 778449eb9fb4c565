/**
 * Orders passages: BM25, with the weight of who said it, the score of the session, the turns around it, and the time that the question
 * names. Pure: the index and the search without one give it the same lists.
 */

import type { Passage } from "../passages/passage.ts"
import { type PassageColumns, USER_WEIGHT } from "../passages/passage-columns.ts"
import type { AnswerWeights } from "./answer-kind.ts"
import type { TimeSpan } from "./named-time.ts"

/** A set, or several that are asked as one. */
export type MembershipTest = Pick<ReadonlySet<string>, "has">

export interface Question {
  readonly text: string
  /** What the conversation is about, the newest last. It helps to choose, but cannot make a passage fit by itself. */
  readonly context?: readonly string[]
  /** "Last week" is counted from here. */
  readonly now: Date
  readonly limit?: number
  /** Only what the person and the assistant said. */
  readonly isDialogue?: boolean
  readonly kind?: Passage["kind"]
  readonly since?: Date
  readonly until?: Date
  /** The share of the question that a passage and the turns around it must have. Default: none. */
  readonly minCoverage?: number
  /** Only this source. Default: all. */
  readonly source?: string
  readonly exclude?: { readonly sources?: ReadonlySet<string>; readonly messages?: MembershipTest }
  /** A factor for what a source has, for what its owner knows about it. Default: 1. */
  readonly prior?: (source: string) => number
  /** Lists the best of each source only. Default: false. */
  readonly isOnePerSource?: boolean
  /** Lists equal texts of different blocks once. Default: true. */
  readonly isDistinct?: boolean
  /** Weights other than the default ones, to measure what each is worth. */
  readonly weights?: Partial<Weights>
}

export interface Weights extends AnswerWeights {
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
  /** What was said on a day that the question names, or on the next one, counts like a rare word of the question, times this. */
  readonly day: number
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
  day: 0.5,
  kind: 0.6,
  speaker: 1,
}

/** Numbers of passages. */
type Ids = Uint32Array | readonly number[]

/** A term of the question and the passages that have it. */
export interface TermList {
  /** The rarer, the more it says. */
  readonly weight: number
  /** The word of the question that it is for: its place among the asked ones. `undefined`: it is of the context. */
  readonly word: number | undefined
  readonly isName: boolean
  readonly ids: Ids
  /** Those that have it at least twice, and at least four times. */
  readonly twice: Ids
  readonly often: Ids
}

interface Ranking {
  readonly columns: PassageColumns
  readonly lists: readonly TermList[]
  readonly time: TimeSpan | undefined
  /** Whether it asks for what the assistant said. */
  readonly isForAnswer: boolean
  readonly weights: Weights
  readonly fits: (id: number) => boolean
  /** The share of the question that words have. */
  readonly share: (mask: number) => number
  /** What a passage and the turns around it must have of it. */
  readonly minShare: number
  /** Words of which one of them must have at least one to have that share. Default: any. */
  readonly needed?: ReadonlySet<number>
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
const MAX_STEPS = 300

/** The best first. Of two that are equally good, the newer. */
export function rankPassages(ranking: Ranking): readonly RankedPassage[] {
  const { scores, masks } = ranking.columns
  const touched: number[] = []
  try {
    return ranked(ranking, { ...computeScores(ranking, touched), touched })
  } finally {
    for (const id of touched) {
      scores[id] = 0
      masks[id] = 0
    }
  }
}

function ranked(ranking: Ranking, { own, masks, sessions, touched }: Scores): readonly RankedPassage[] {
  const { columns, time, weights, prior, fits, share, minShare } = ranking
  const sessionPart = (id: number) =>
    (weights.session * sessions[columns.sessions[id]!]! * columns.weights[id]!) / USER_WEIGHT
  const candidates = selectBest(touched, { fits, scoreOf: (id) => own[id]! + sessionPart(id) })
  const all = new Set(candidates)
  for (const id of candidates) for (const near of adjacentTurns(id, { columns, masks })) if (fits(near)) all.add(near)
  const onDay = new Set(time && time.to - time.from <= DAY ? dialogueOnDays(time, ranking) : [])
  for (const id of onDay) all.add(id)
  const rare = Math.log(1 + columns.count) // about what a word says that is in one passage
  const average = columns.total / columns.count || 1
  const list: RankedPassage[] = []
  for (const id of all) {
    const near = columns.dialogue[id] ? neighborScore(id, { columns, own, masks, weights }) : NOTHING
    const mask = masks[id]! | near.mask
    if (minShare > 0 && share(mask) < minShare) continue
    const score =
      own[id]! * (1 + weights.together * share(masks[id]!)) +
      sessionPart(id) +
      // a short text says little of the day
      (onDay.has(id) ? weights.day * rare * columns.weights[id]! * Math.min(1, columns.lengths[id]! / average) : 0) +
      (near.score * columns.weights[id]!) / USER_WEIGHT
    const factor = prior(id) * (time && isDuring(columns.times[id]!, time) ? weights.time : 1)
    if (score * factor > 0) list.push({ id, score: score * factor, mask })
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

/** By session, 1 where one of its passages has a word that is needed: the turns around a passage are of its session. */
function sessionsWith({ columns: { sessionLengths, sessions, largest }, lists, needed }: Ranking): Uint8Array {
  if (!needed) return new Uint8Array(sessionLengths.length).fill(1)
  const isWith = new Uint8Array(sessionLengths.length)
  for (const { word, ids } of lists)
    if (word !== undefined && needed.has(word)) for (const id of ids) if (id <= largest) isWith[sessions[id]!] = 1
  return isWith
}

/** BM25 of every passage and of every session that has a term, among those that can have enough of the question. `touched`: gets the passages. */
function computeScores(ranking: Ranking, touched: number[]): Omit<Scores, "touched"> {
  const { columns, lists, weights, isForAnswer } = ranking
  const isOpen = sessionsWith(ranking)
  const { k1, b, sessionB } = weights
  const { scores: own, masks, kinds, lengths, dialogue, weights: saidWeights, sessions: sessionOf, largest } = columns
  const sessions = new Float32Array(columns.sessionLengths.length)
  const average = columns.total / columns.count || 1
  const sessionAverage = columns.sessionTotal / columns.sessionLengths.length || 1
  const saturated = (count: number, held: number) => (count * (k1 + 1)) / (count + held)
  // of the term that is added
  const inSession = new Float64Array(sessions.length)
  const counted: number[] = []
  function add(id: number, { from, to, weight, isName }: Repetitions): void {
    const held = k1 * (1 - b + (b * lengths[id]!) / average)
    const who = isName || (isForAnswer && kinds[id] === "assistant") ? USER_WEIGHT : saidWeights[id]!
    own[id]! += weight * who * (saturated(to, held) - (from === 0 ? 0 : saturated(from, held)))
    if (dialogue[id] === 0) return
    const session = sessionOf[id]!
    if (inSession[session] === 0) counted.push(session)
    inSession[session]! += ((to - from) * saidWeights[id]!) / USER_WEIGHT
  }
  for (const { weight, word, isName, ids, twice, often } of lists) {
    const bit = word === undefined ? 0 : 1 << word
    const [once, again, more] = [
      { from: 0, to: 1, weight, isName },
      { from: 1, to: 2, weight, isName },
      { from: 2, to: 4, weight, isName },
    ]
    for (const id of ids) {
      if (id > largest || isOpen[sessionOf[id]!] === 0) continue
      if (own[id] === 0) touched.push(id)
      masks[id]! |= bit
      add(id, once)
    }
    for (const id of twice) if (id <= largest && isOpen[sessionOf[id]!] === 1) add(id, again)
    for (const id of often) if (id <= largest && isOpen[sessionOf[id]!] === 1) add(id, more)
    for (const session of counted) {
      const held = k1 * (1 - sessionB + (sessionB * columns.sessionLengths[session]!) / sessionAverage)
      sessions[session]! += weight * USER_WEIGHT * saturated(inSession[session]!, held)
      inSession[session] = 0
    }
    counted.length = 0
  }
  return { own, masks, sessions }
}

interface Repetitions {
  readonly from: number
  readonly to: number
  readonly weight: number
  readonly isName: boolean
}

/** The best candidates, in a heap with the worst of them on top: most passages are compared with that one only. */
function selectBest(
  ids: readonly number[],
  { fits, scoreOf }: { readonly fits: (id: number) => boolean; readonly scoreOf: (id: number) => number },
): readonly number[] {
  const [heap, scores] = [new Float64Array(CANDIDATES), new Float64Array(CANDIDATES)]
  let size = 0
  const isWorse = (score: number, id: number, at: number) =>
    score < scores[at]! || (score === scores[at] && id < heap[at]!)
  const put = (at: number, id: number, score: number) => {
    heap[at] = id
    scores[at] = score
  }
  for (const id of ids) {
    const score = scoreOf(id)
    if ((size === CANDIDATES && isWorse(score, id, 0)) || !fits(id)) continue
    let at = size
    if (size < CANDIDATES) {
      size++
      for (let up = (at - 1) >> 1; at > 0 && isWorse(score, id, up); up = (at - 1) >> 1) {
        put(at, heap[up]!, scores[up]!)
        at = up
      }
    } else {
      at = 0
      for (let down = 1; down < CANDIDATES; down = 2 * at + 1) {
        if (down + 1 < CANDIDATES && isWorse(scores[down + 1]!, heap[down + 1]!, down)) down++
        if (isWorse(score, id, down)) break
        put(at, heap[down]!, scores[down]!)
        at = down
      }
    }
    put(at, id, score)
  }
  return [...heap.subarray(0, size)]
}

const NOTHING = { score: 0, mask: 0 }

interface NeighborInput {
  readonly columns: PassageColumns
  readonly own: Float32Array
  readonly masks: Int32Array
  readonly weights: Weights
}

/** What the turns around a passage have. Of a long one, its best part counts. */
function neighborScore(id: number, { columns, own, masks, weights }: NeighborInput) {
  let [score, mask] = [0, 0]
  for (const step of BOTH_WAYS) {
    let [first, second, asks] = [0, 0, false]
    forNearbyDialogue(id, { step, columns }, (at, turns) => {
      // what is long says little about what is beside it
      const part = (own[at]! * columns.weights[at]!) / USER_WEIGHT
      if (turns === 2) second = Math.max(second, part)
      else {
        first = Math.max(first, part)
        asks ||= columns.questions[at] === 1
      }
      mask |= masks[at]!
    })
    const [near, far] = step < 0 ? weights.before : weights.after
    score += first * (step < 0 && asks ? weights.reply : near) + second * far
  }
  return { score, mask }
}

/** The turns right beside a passage that says enough to make them worth reading: two words of the question, or it asks and they answer. */
function adjacentTurns(id: number, { columns, masks }: Pick<NeighborInput, "columns" | "masks">): readonly number[] {
  const adjacent: number[] = []
  if (!columns.dialogue[id]) return adjacent
  const isTelling = countBits(masks[id]!) > 1
  for (const step of BOTH_WAYS) {
    if (!isTelling && !(step > 0 && columns.questions[id])) continue
    forNearbyDialogue(id, { step, columns }, (at, turns) => {
      if (turns === 1) adjacent.push(at)
    })
  }
  return adjacent
}

const BOTH_WAYS = [-1, 1] as const

/** What was said one and two turns before or after a passage. */
function forNearbyDialogue(
  id: number,
  { step, columns }: { readonly step: -1 | 1; readonly columns: PassageColumns },
  visit: (at: number, turns: number) => void,
): void {
  const { turns, sessions, dialogue } = columns
  const next = step < 0 ? columns.before : columns.after
  for (let at = next[id]!, steps = 0; at > 0 && steps < MAX_STEPS; at = next[at]!, steps++) {
    if (!dialogue[at]) continue
    const away = Math.abs(turns[at]! - turns[id]!)
    if (away > 2 || sessions[at] !== sessions[id]) return
    if (away > 0) visit(at, away)
  }
}

export function countBits(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

const DAY = 86_400_000

/** What was said on a day, and on the next one, when people say "yesterday". The newest, as many as there are candidates. */
function dialogueOnDays({ from }: TimeSpan, { columns, fits }: Pick<Ranking, "columns" | "fits">): readonly number[] {
  const { times, dialogue, largest } = columns
  const ids: number[] = []
  for (let id = largest; id > 0 && ids.length < CANDIDATES; id--)
    if (dialogue[id] === 1 && times[id]! >= from && times[id]! < from + 2 * DAY && fits(id)) ids.push(id)
  return ids
}

const isDuring = (time: number, { from, to }: TimeSpan) => time >= from && time < to

const newerFirst = (a: number, b: number, { times }: PassageColumns) => times[b]! - times[a]! || b - a
