/**
 * The newest part of a thread in memory: the state of each namespace as its last line left it, and what leads to the states before. Lines that
 * are read and lines that are written take the same way through `take`.
 */
import {
  type CheckpointLine,
  checkpointId,
  type Elsewhere,
  type Line,
  lineId,
  type SegmentLine,
  segmentId,
  type WritesLine,
} from "./lines.ts"
import {
  type Change,
  changeBetween,
  changed,
  MissingBase,
  type Node,
  Piece,
  type Placed,
  type Places,
  type Stored,
  sizeOf,
} from "./nodes.ts"

// The pieces of a segment, by number. A new line names those that are there already, and brings the others.

const LINE_BYTES = 350 // of the fields that every line has

export class Pieces implements Placed {
  readonly #pieces: Piece[] = []
  readonly #numbers = new Map<string, number>()
  #numbered = 0

  get next(): number {
    return this.#pieces.length
  }

  /** `pieces`: those of the line, where they are at hand. */
  take({ first, values }: Pick<CheckpointLine, "first" | "values">, pieces?: readonly Piece[]): void {
    for (const [at, stored] of values.entries()) this.#pieces[first + at] = pieces?.[at] ?? new Piece(stored)
  }

  piece(number: number): Piece {
    const piece = this.#pieces[number]
    if (!piece) throw new MissingBase()
    return piece
  }

  /** Hashes are made when the first is asked for: who only reads needs none. */
  numberOf(piece: Piece): number | undefined {
    for (; this.#numbered < this.#pieces.length; this.#numbered++) {
      const each = this.#pieces[this.#numbered]
      if (each && !this.#numbers.has(each.key)) this.#numbers.set(each.key, this.#numbered)
    }
    return this.#numbers.get(piece.key)
  }
}

export class NewPieces implements Places {
  readonly added: Piece[] = []
  readonly #before: Pieces
  readonly #first: number
  readonly #numbers = new Map<string, number>()

  constructor(before: Pieces) {
    this.#before = before
    this.#first = before.next
  }

  place(piece: Piece): number | Stored {
    if (piece.isSmall) return piece.stored
    const known = this.#before.numberOf(piece) ?? this.#numbers.get(piece.key)
    if (known !== undefined) return known
    const number = this.#first + this.added.length
    this.#numbers.set(piece.key, number)
    this.added.push(piece)
    return number
  }

  /** What the line says of them. `rest`: what else it has; `bytes`: of the segment before it. */
  brought(rest: unknown, bytes: number): Pick<CheckpointLine, "first" | "values" | "bytes"> {
    const own = this.added.reduce((sum, piece) => sum + piece.bytes, JSON.stringify(rest).length + LINE_BYTES)
    return { first: this.#first, values: this.added.map(({ stored }) => stored), bytes: bytes + own }
  }
}

/** Of a segment that holds little: below this, nothing is written again. */
const ROOM = 256_000 // characters
/** A segment may have this many times what is still needed of it. So reading it costs a few times the state, whatever the thread's length. */
const MAX_TIMES = 3
const LOOK_AGAIN = 1.5

export interface Write {
  readonly task: string
  readonly index: number
  readonly channel: string
  readonly value: Node
}

/** What a checkpoint is to be. */
export interface CheckpointDraft {
  readonly ns: string
  readonly id: string
  readonly parent: string | undefined
  readonly state: Node
}

interface KeptWrite extends Omit<Write, "value"> {
  readonly value: Change
}

interface Head {
  readonly uuid: string
  readonly state: Node
}

export class Segment {
  readonly number: number
  readonly thread: string
  /** The line that begins it is lost. What is in earlier segments is not known. */
  readonly isHeadless: boolean
  readonly #pieces = new Pieces()
  /** By namespace: the newest checkpoint, wherever it is. */
  readonly #newest = new Map<string, string>()
  readonly #elsewhere = new Map<string, Elsewhere>()
  /** The newest of each namespace in earlier segments. */
  readonly #earlier: ReadonlyMap<string, string>
  readonly #steps = new Map<string, CheckpointLine[]>()
  /** The line that counts for each checkpoint. */
  readonly #last = new Map<string, CheckpointLine>()
  readonly #heads = new Map<string, Head>()
  readonly #writes = new Map<string, Map<string, KeptWrite>>()
  #bytes = 0
  #lookAt = ROOM
  #lastUuid: string

  constructor({ uuid, segment, thread, elsewhere }: SegmentLine, isHeadless = false) {
    this.number = segment
    this.thread = thread
    this.isHeadless = isHeadless
    this.#lastUuid = uuid
    for (const each of elsewhere) {
      this.#elsewhere.set(keyOf(each.ns, each.id), each)
      if (each.isNewest) this.#newest.set(each.ns, each.id)
    }
    this.#earlier = new Map(this.#newest)
  }

  /** The first line of a thread. */
  static firstLine(thread: string): SegmentLine {
    return { kind: "segment", uuid: segmentId(0), segment: 0, thread, elsewhere: [] }
  }

  /** The line that begins the next segment. */
  nextLine(): SegmentLine {
    const segment = this.number + 1
    const known = new Map(this.#elsewhere)
    for (const [key, { ns, id, again }] of this.#last)
      if (again || this.#newest.get(ns) === id)
        known.set(key, { ns, id, segment: this.number, ...(again ? { isMoved: again } : {}) })
    const elsewhere = [...known.values()].flatMap(({ isNewest: _, ...each }) => {
      if (this.#newest.get(each.ns) === each.id) return [{ ...each, isNewest: true as const }]
      return each.isMoved ? [each] : [] // the line of any other leads to it
    })
    return { kind: "segment", uuid: segmentId(segment), segment, thread: this.thread, elsewhere }
  }

  get lastUuid(): string {
    return this.#lastUuid
  }

  get bytes(): number {
    return this.#bytes
  }

  newestOf(ns: string): string | undefined {
    return this.#newest.get(ns)
  }

  /** The largest id in earlier segments: of a namespace, or of all. */
  newestEarlier(ns: string | undefined): string | undefined {
    return ns === undefined ? [...this.#earlier.values()].sort().at(-1) : this.#earlier.get(ns)
  }

  has(ns: string, id: string): boolean {
    return this.#last.has(keyOf(ns, id))
  }

  /** The segment that has a checkpoint, as far as this one knows. */
  placeOf(ns: string, id: string): number | undefined {
    return this.has(ns, id) ? this.number : this.#elsewhere.get(keyOf(ns, id))?.segment
  }

  /** Whether an earlier segment may have the checkpoint. Ids grow with time. */
  mayBeEarlier(ns: string, id: string): boolean {
    const newest = this.#newest.get(ns)
    return this.number > 0 && newest !== undefined && id <= newest
  }

  /** The lines of checkpoints, in the order in which they were written. */
  lines(ns?: string): readonly CheckpointLine[] {
    return ns === undefined ? [...this.#steps.values()].flat() : (this.#steps.get(ns) ?? [])
  }

  /** The state of a checkpoint. Read it at once: a later line changes it. `undefined`: what it is based on was lost. */
  stateOf(ns: string, id: string): Node | undefined {
    const last = this.#last.get(keyOf(ns, id))
    if (!last) return undefined
    const head = this.#heads.get(ns)
    if (head?.uuid === last.uuid) return head.state
    for (const { line, state } of this.replay(ns)) if (line === last) return state
    return undefined
  }

  /** The state that the last line of a namespace left. */
  headOf(ns: string): Node | undefined {
    return this.#heads.get(ns)?.state
  }

  /** Each checkpoint of a namespace with its state, first to last. A state is changed by the next one. */
  *replay(ns: string): Generator<{ readonly line: CheckpointLine; readonly state: Node | undefined }> {
    let head: Head | undefined
    for (const line of this.#steps.get(ns) ?? []) {
      head = this.#after(head, line)
      yield { line, state: head?.state }
    }
  }

  #after(head: Head | undefined, line: CheckpointLine): Head | undefined {
    if (line.base !== undefined && line.base !== head?.uuid) return undefined
    try {
      return {
        uuid: line.uuid,
        state: changed(line.base === undefined ? undefined : head?.state, line.change, this.#pieces),
      }
    } catch (error) {
      if (error instanceof MissingBase) return undefined
      throw error
    }
  }

  parentOf(ns: string, id: string): string | undefined {
    return this.#last.get(keyOf(ns, id))?.parent
  }

  writesOf(ns: string, id: string): readonly Write[] {
    return [...(this.#writes.get(keyOf(ns, id))?.values() ?? [])].map(({ value, ...write }) => ({
      ...write,
      value: changed(undefined, value, this.#pieces),
    }))
  }

  /** `pieces`: those of the line, where they are at hand. */
  take(line: Line, pieces?: readonly Piece[]): void {
    this.#lastUuid = line.uuid
    if (line.kind === "segment") return
    this.#pieces.take(line, pieces)
    this.#bytes = line.bytes
    if (line.kind === "checkpoint") this.#takeCheckpoint(line)
    else this.#takeWrites(line)
  }

  #takeCheckpoint(line: CheckpointLine): void {
    const { ns, id, lookAt } = line
    if (lookAt !== undefined) this.#lookAt = lookAt
    const head = this.#after(this.#heads.get(ns), line)
    if (head) this.#heads.set(ns, head)
    else this.#heads.delete(ns)
    const steps = this.#steps.get(ns)
    if (steps) steps.push(line)
    else this.#steps.set(ns, [line])
    this.#last.set(keyOf(ns, id), line)
    if (id > (this.#newest.get(ns) ?? "")) this.#newest.set(ns, id)
  }

  #takeWrites({ ns, id, task, writes }: WritesLine): void {
    const key = keyOf(ns, id)
    const kept = this.#writes.get(key) ?? new Map<string, KeptWrite>()
    this.#writes.set(key, kept)
    for (const [index, channel, value] of writes) kept.set(slotOf(task, index), { task, index, channel, value })
  }

  /** Whether the next checkpoint should begin a new segment, because most of this one is no longer needed. */
  isDue({ ns, state }: CheckpointDraft): boolean {
    if (this.#bytes <= this.#lookAt) return false
    const others = [...this.#heads].filter(([each]) => each !== ns && !isOfOneTask(each))
    const needed = others.reduce((sum, [, head]) => sum + sizeOf(head.state), sizeOf(state))
    if (this.#bytes > ROOM + MAX_TIMES * needed) return true
    this.#lookAt = Math.max(LOOK_AGAIN * this.#bytes, ROOM + MAX_TIMES * needed)
    return false
  }

  /** Whether the checkpoint is there and equal. */
  isSame({ ns, id, parent, state }: CheckpointDraft): boolean {
    const old = this.stateOf(ns, id)
    return old !== undefined && parent === this.parentOf(ns, id) && isEqual(old, state)
  }

  /** The line of a checkpoint, which is taken too. Nothing if it is there and equal. */
  addCheckpoint({ ns, id, parent, state }: CheckpointDraft, isAgain = false): CheckpointLine | undefined {
    const written = this.#last.get(keyOf(ns, id))
    if (this.isSame({ ns, id, parent, state })) return undefined
    const head = this.#heads.get(ns)
    const pieces = new NewPieces(this.#pieces)
    const change = changeBetween(head?.state, state, pieces) ?? { m: [] }
    const again = isAgain || written !== undefined
    const uuid = again ? lineId("checkpoint", ns, id, this.number, this.#bytes) : checkpointId(ns, id)
    const line: CheckpointLine = {
      ...{ kind: "checkpoint", uuid, segment: this.number, ns, id },
      ...(parent === undefined ? {} : { parent }),
      ...(head ? { base: head.uuid } : {}),
      ...(again ? { again } : {}),
      ...(this.#lookAt === ROOM ? {} : { lookAt: this.#lookAt }),
      ...pieces.brought(change, this.#bytes),
      change,
    }
    this.take(line, pieces.added)
    return line
  }

  /** The line of those writes that are not there yet. A write with a negative index replaces the one before. */
  addWrites(
    { ns, id, task }: Pick<WritesLine, "ns" | "id" | "task">,
    writes: readonly Write[],
  ): WritesLine | undefined {
    const kept = this.#writes.get(keyOf(ns, id))
    const fresh = writes.filter(({ index, value, channel }) => {
      const old = kept?.get(slotOf(task, index))
      if (!old) return true
      if (index >= 0) return false
      return old.channel !== channel || !isEqual(changed(undefined, old.value, this.#pieces), value)
    })
    if (fresh.length === 0) return undefined
    const pieces = new NewPieces(this.#pieces)
    const rows = fresh.map(
      ({ index, channel, value }) => [index, channel, changeBetween(undefined, value, pieces)!] as const,
    )
    const line: WritesLine = {
      ...{ kind: "writes", segment: this.number, ns, id, task },
      uuid: lineId("writes", ns, id, task, this.number, this.#bytes, JSON.stringify(rows)),
      ...pieces.brought(rows, this.#bytes),
      writes: rows,
    }
    this.take(line, pieces.added)
    return line
  }
}

/** The segment after some lines. */
export function segmentAfter(before: Segment | undefined, lines: Iterable<Line>): Segment | undefined {
  let segment = before
  for (const line of lines) {
    if (line.kind === "segment") segment = new Segment(line)
    else {
      if (segment?.number !== line.segment) segment = headless(line.segment)
      segment.take(line)
    }
  }
  return segment
}

const headless = (segment: number): Segment =>
  new Segment({ ...Segment.firstLine(""), uuid: segmentId(segment), segment }, true)

const isEqual = (one: Node, other: Node): boolean => changeBetween(one, other, { place: () => 0 }) === undefined

const keyOf = (ns: string, id: string): string => JSON.stringify([ns, id])

const slotOf = (task: string, index: number): string => `${task},${index}`

/** The namespace of a subgraph has the id of its task, unless the graph keeps its state from call to call. */
const isOfOneTask = (ns: string): boolean => ns.includes(":")
