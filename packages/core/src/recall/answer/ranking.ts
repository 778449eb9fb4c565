/**
 * Ranks passages by BM25, weighted by speaker, and by the score of the session, the turns around the passage, and the time that the
 * question names. Pure: the index and a plain scan produce the same lists.
 */

import type { Passage } from "../passages/passage.ts"
import { type PassageColumns, USER_WEIGHT } from "../passages/passage-columns.ts"
import type { AnswerWeights } from "./answer-kind.ts"
import type { TimeSpan } from "./named-time.ts"

/** A set, or several sets that are queried as one. */
export type MembershipTest = Pick<ReadonlySet<string>, "has">

export interface Question {
  readonly text: string
  /** Earlier messages, newest last. They influence the order, but cannot make a passage fit by themselves. */
  readonly context?: readonly string[]
  /** The time to which "last week" refers. */
  readonly now: Date
  readonly limit?: number
  /** Only messages of the user and the assistant. */
  readonly isDialogue?: boolean
  readonly kind?: Passage["kind"]
  readonly since?: Date
  readonly until?: Date
  /** Share of the question that a passage and the turns around it must have. Default: none. */
  readonly minCoverage?: number
  /** Only this source. Default: all sources. */
  readonly source?: string
  readonly exclude?: { readonly sources?: ReadonlySet<string>; readonly messages?: MembershipTest }
  /** A factor for a source, from what its owner knows about it. Default: 1. */
  readonly prior?: (source: string) => number
  /** Lists only the best passage of each source. Default: false. */
  readonly isOnePerSource?: boolean
  /** Lists equal texts of different blocks once. Default: true. */
  readonly isDistinct?: boolean
  /** Replaces default weights, to measure what each contributes. */
  readonly weights?: Partial<Weights>
}

export interface Weights extends AnswerWeights {
  /** BM25: saturation of repeated terms. */
  readonly k1: number
  /** BM25: penalty for long passages. `sessionB`: for long sessions. */
  readonly b: number
  readonly sessionB: number
  /** Weight of the session's score. */
  readonly session: number
  /** Weights of the scores of the turns one and two positions before; `after` for those that follow. */
  readonly before: readonly [number, number]
  readonly after: readonly [number, number]
  /** Weight of the turn before if it is a question, which this one may answer. */
  readonly reply: number
  readonly context: number
  /** A factor for messages within the time that the question names. */
  readonly time: number
  /** Bonus for messages on a day that the question names, or on the next one, in units of a rare word's weight. */
  readonly day: number
  /** Bonus for a passage that has all words of the question. */
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

/** Ids of passages. */
type Ids = Uint32Array | readonly number[]

/** A term of the question with the passages that contain it. */
export interface TermList {
  /** The rarer the term, the higher. */
  readonly weight: number
  /** Index of the word in the question that the term represents. `undefined`: a term of the context. */
  readonly word: number | undefined
  readonly isName: boolean
  readonly ids: Ids
  /** Passages that contain the term at least twice; `often`: at least four times. */
  readonly twice: Ids
  readonly often: Ids
}

interface Ranking {
  readonly columns: PassageColumns
  readonly lists: readonly TermList[]
  readonly time: TimeSpan | undefined
  /** Whether the question asks for something that the assistant wrote. */
  readonly isForAnswer: boolean
  readonly weights: Weights
  readonly fits: (id: number) => boolean
  /** Share of the question that the words in a mask have. */
  readonly share: (mask: number) => number
  /** Minimum share of the question for a passage with the turns around it. */
  readonly minShare: number
  /** Words of which a passage must have at least one to reach that share. Default: any. */
  readonly needed?: ReadonlySet<number>
  /** A factor for a passage. */
  readonly prior: (id: number) => number
}

export interface RankedPassage {
  readonly id: number
  readonly score: number
  /** The words of the question that the passage and the turns around it contain, one bit for each. */
  readonly mask: number
}

const CANDIDATES = 200
/** Maximum of passages to visit in search of the turns around one, since a long answer has many passages. */
const MAX_STEPS = 300

/** Passages, best first. Of equally good ones, the newer comes first. */
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
  const rare = Math.log(1 + columns.count) // about the weight of a word that occurs in one passage
  const average = columns.total / columns.count || 1
  const list: RankedPassage[] = []
  for (const id of all) {
    const near = columns.dialogue[id] ? neighborScore(id, { columns, own, masks, weights }) : NOTHING
    const mask = masks[id]! | near.mask
    if (minShare > 0 && share(mask) < minShare) continue
    const score =
      own[id]! * (1 + weights.together * share(masks[id]!)) +
      sessionPart(id) +
      // a short text contains little about the day
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
  /** Scores by session. */
  readonly sessions: Float32Array
  readonly touched: readonly number[]
}

/** By session: 1 if one of its passages has a required word. The turns around a passage belong to the same session. */
function sessionsWith({ columns: { sessionLengths, sessions, largest }, lists, needed }: Ranking): Uint8Array {
  if (!needed) return new Uint8Array(sessionLengths.length).fill(1)
  const isWith = new Uint8Array(sessionLengths.length)
  for (const { word, ids } of lists)
    if (word !== undefined && needed.has(word)) for (const id of ids) if (id <= largest) isWith[sessions[id]!] = 1
  return isWith
}

/**
 * BM25 scores of every passage and every session with a term, among those that can cover enough of the question. Appends the passages
 * to `touched`.
 */
function computeScores(ranking: Ranking, touched: number[]): Omit<Scores, "touched"> {
  const { columns, lists, weights, isForAnswer } = ranking
  const isOpen = sessionsWith(ranking)
  const { k1, b, sessionB } = weights
  const {
    scores: own,
    masks,
    kinds,
    lengths,
    dialogue,
    weights: passageWeights,
    sessions: sessionOf,
    largest,
  } = columns
  const sessions = new Float32Array(columns.sessionLengths.length)
  const average = columns.total / columns.count || 1
  const sessionAverage = columns.sessionTotal / columns.sessionLengths.length || 1
  const saturated = (count: number, held: number) => (count * (k1 + 1)) / (count + held)
  // repetitions of the current term
  const inSession = new Float64Array(sessions.length)
  const counted: number[] = []
  function add(id: number, { from, to, weight, isName }: Repetitions): void {
    const held = k1 * (1 - b + (b * lengths[id]!) / average)
    const who = isName || (isForAnswer && kinds[id] === "assistant") ? USER_WEIGHT : passageWeights[id]!
    own[id]! += weight * who * (saturated(to, held) - (from === 0 ? 0 : saturated(from, held)))
    if (dialogue[id] === 0) return
    const session = sessionOf[id]!
    if (inSession[session] === 0) counted.push(session)
    inSession[session]! += ((to - from) * passageWeights[id]!) / USER_WEIGHT
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

/** Selects the best candidates with a heap that has the worst of them on top: most passages are compared with that one only. */
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

/** Score contributed by the turns around a passage. Of a turn with several passages, the best is used. */
function neighborScore(id: number, { columns, own, masks, weights }: NeighborInput) {
  let [score, mask] = [0, 0]
  for (const step of BOTH_WAYS) {
    let [first, second, asks] = [0, 0, false]
    forNearbyDialogue(id, { step, columns }, (at, turns) => {
      // long passages indicate little about adjacent turns
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

/**
 * The adjacent turns of a passage that is promising enough to read them: it has two words of the question, or is a question or an
 * answer to one.
 */
function adjacentTurns(id: number, { columns, masks }: Pick<NeighborInput, "columns" | "masks">): readonly number[] {
  const adjacent: number[] = []
  if (!columns.dialogue[id]) return adjacent
  const isPromising = countBits(masks[id]!) > 1
  for (const step of BOTH_WAYS) {
    if (!isPromising && !(step > 0 && columns.questions[id])) continue
    forNearbyDialogue(id, { step, columns }, (at, turns) => {
      if (turns === 1) adjacent.push(at)
    })
  }
  return adjacent
}

const BOTH_WAYS = [-1, 1] as const

/** Calls a function for the dialogue one and two turns before or after a passage. */
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

/** Messages of a day, and of the next one, when people say "yesterday". The newest ones, at most as many as there are candidates. */
function dialogueOnDays({ from }: TimeSpan, { columns, fits }: Pick<Ranking, "columns" | "fits">): readonly number[] {
  const { times, dialogue, largest } = columns
  const ids: number[] = []
  for (let id = largest; id > 0 && ids.length < CANDIDATES; id--)
    if (dialogue[id] === 1 && times[id]! >= from && times[id]! < from + 2 * DAY && fits(id)) ids.push(id)
  return ids
}

const isDuring = (time: number, { from, to }: TimeSpan) => time >= from && time < to

const newerFirst = (a: number, b: number, { times }: PassageColumns) => times[b]! - times[a]! || b - a
