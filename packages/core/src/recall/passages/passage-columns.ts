/**
 * Facts about every passage that the ranking needs, in arrays indexed by passage id. Neighbours in a conversation have adjacent turns.
 * A session is a conversation, or the part of one between two long pauses.
 */
import type { Passage } from "./passage.ts"

interface PassageFacts {
  readonly source: number
  readonly turn: number
  readonly kind: Passage["kind"]
  readonly isDialogue: boolean
  readonly isQuestion: boolean
  /** Length of the passage in terms. */
  readonly length: number
  /** Length of the full block in characters. */
  readonly blockLength: number
  /** Milliseconds since 1970, or NaN. */
  readonly time: number
}

const PAUSE = 4 * 3_600_000 // milliseconds: after such a pause, people talk about something else
const FIRST_SIZE = 1_024

/**
 * Weight of a user's message, which states what the user wants. Answers weigh less the longer they are, because long ones mention many
 * things.
 */
export const USER_WEIGHT = 2
const MIN_WEIGHT = 2 / 3
/** Length in characters up to which a block has its full weight. */
const MAX_REQUEST = 2_000 // longer ones are pasted
const MAX_REPLY = 300
/** Weight of tool inputs and results: half of a user's message, since names in results would otherwise not be found. */
const TOOL_WEIGHT = 1

function weightOf({
  kind,
  isDialogue,
  blockLength,
}: Pick<PassageFacts, "kind" | "isDialogue" | "blockLength">): number {
  if (!isDialogue) return TOOL_WEIGHT
  const full = kind === "user" ? MAX_REQUEST : MAX_REPLY
  return blockLength <= full ? USER_WEIGHT : Math.max(MIN_WEIGHT, USER_WEIGHT * (full / blockLength) ** 0.75)
}

interface SourceEnd {
  readonly source: number
  /** The last passage of the source. 0: none. */
  last: number
  session: number | undefined
  time: number
}

export class PassageColumns {
  kinds: (Passage["kind"] | undefined)[] = []
  lengths = new Float32Array(FIRST_SIZE)
  weights = new Float32Array(FIRST_SIZE)
  sources = new Uint32Array(FIRST_SIZE)
  sessions = new Uint32Array(FIRST_SIZE)
  turns = new Uint32Array(FIRST_SIZE)
  times = new Float64Array(FIRST_SIZE)
  dialogue = new Uint8Array(FIRST_SIZE)
  questions = new Uint8Array(FIRST_SIZE)
  /** The passages before and after in the same source. 0: none. */
  before = new Uint32Array(FIRST_SIZE)
  after = new Uint32Array(FIRST_SIZE)
  /** The largest passage id. */
  largest = 0
  count = 0
  /** Number of terms in all passages. */
  total = 0
  /** By session: weighted number of terms in its dialogue. */
  readonly sessionLengths: number[] = []
  sessionTotal = 0
  /** For one question at a time: the score of each passage, and the words of the question that it contains. All are 0 between questions. */
  scores = new Float32Array(FIRST_SIZE)
  masks = new Int32Array(FIRST_SIZE)
  /** The end of each source. */
  readonly #ends = new Map<number, SourceEnd>()
  /** The source that grew last, since it most often grows again. */
  #end: SourceEnd | undefined

  add(id: number, facts: PassageFacts): void {
    if (id >= this.lengths.length) this.#grow(id)
    const { source, turn, kind, isDialogue, isQuestion, length, time } = facts
    const weight = weightOf(facts)
    const end = this.#endOf(source)
    const session = this.#sessionAt(end, time)
    this.kinds[id] = kind
    this.lengths[id] = length
    this.weights[id] = weight
    this.sources[id] = source
    this.sessions[id] = session
    this.turns[id] = turn
    this.times[id] = time
    this.dialogue[id] = Number(isDialogue)
    this.questions[id] = Number(isQuestion)
    this.before[id] = end.last
    if (end.last > 0) this.after[end.last] = id
    end.last = id
    this.largest = Math.max(this.largest, id)
    this.count++
    this.total += length
    if (!isDialogue) return
    const share = (length * weight) / USER_WEIGHT
    this.sessionLengths[session]! += share
    this.sessionTotal += share
  }

  /** All passage ids in order. */
  ids(): Uint32Array {
    const ids = new Uint32Array(this.count)
    for (let [id, at] = [1, 0]; id <= this.largest; id++) if (this.sources[id]! > 0) ids[at++] = id
    return ids
  }

  /** The ids of a list that exist. `only`: restricts them to this source. */
  present(ids: Uint32Array, only: number | undefined): Uint32Array {
    const { sources, largest } = this
    const isHere = (id: number) => id <= largest && (only === undefined ? sources[id]! > 0 : sources[id] === only)
    return ids.every(isHere) ? ids : ids.filter(isHere)
  }

  /** Allocates space for ids up to this one: growing step by step takes longer. */
  reserve(largest: number): void {
    if (largest >= this.lengths.length) this.#grow(largest)
  }

  #endOf(source: number): SourceEnd {
    if (this.#end?.source === source) return this.#end
    const end = this.#ends.get(source) ?? { source, last: 0, session: undefined, time: Number.NaN }
    this.#ends.set(source, end)
    this.#end = end
    return end
  }

  #sessionAt(end: SourceEnd, time: number): number {
    if (end.session !== undefined && !(time - end.time > PAUSE)) {
      if (!Number.isNaN(time)) end.time = time
      return end.session
    }
    end.session = this.sessionLengths.push(0) - 1
    end.time = time
    return end.session
  }

  #grow(id: number): void {
    const size = Math.max(2 * this.lengths.length, id + 1)
    const grown = <T extends { set(from: T): void }>(to: T, from: T): T => {
      to.set(from)
      return to
    }
    this.lengths = grown(new Float32Array(size), this.lengths)
    this.weights = grown(new Float32Array(size), this.weights)
    this.sources = grown(new Uint32Array(size), this.sources)
    this.sessions = grown(new Uint32Array(size), this.sessions)
    this.turns = grown(new Uint32Array(size), this.turns)
    this.times = grown(new Float64Array(size), this.times)
    this.dialogue = grown(new Uint8Array(size), this.dialogue)
    this.questions = grown(new Uint8Array(size), this.questions)
    this.before = grown(new Uint32Array(size), this.before)
    this.after = grown(new Uint32Array(size), this.after)
    this.scores = new Float32Array(size)
    this.masks = new Int32Array(size)
  }
}
