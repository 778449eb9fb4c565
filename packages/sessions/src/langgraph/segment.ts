/**
 * The newest segment of a thread in memory: the latest state of each namespace, and the changes that led to earlier states. Lines that are
 * read and lines that are written are both applied by `take`.
 */
import {
  type CheckpointLine,
  type CheckpointLocation,
  checkpointId,
  lineId,
  type SegmentLine,
  segmentId,
  type ThreadLine,
  type WritesLine,
} from "./lines.ts"
import {
  applyChange,
  type Change,
  changeBetween,
  Leaf,
  type LeafNumbers,
  type LeafTable,
  MissingBase,
  type Node,
  type StoredLeaf,
  sizeOf,
} from "./nodes.ts"

// The leaves of a segment by number. A new line refers to existing leaves and contains the new ones.

const LINE_BYTES = 350 // size of the fields that every line has

export class SegmentLeaves implements LeafTable {
  readonly #pieces: Leaf[] = []
  readonly #numbers = new Map<string, number>()
  #numbered = 0

  get next(): number {
    return this.#pieces.length
  }

  /** `pieces`: the leaves of the line, if already in memory. */
  take({ first, values }: Pick<CheckpointLine, "first" | "values">, leaves?: readonly Leaf[]): void {
    for (const [at, stored] of values.entries()) this.#pieces[first + at] = leaves?.[at] ?? new Leaf(stored)
  }

  leaf(number: number): Leaf {
    const piece = this.#pieces[number]
    if (!piece) throw new MissingBase()
    return piece
  }

  /** Hashes are computed on the first call, because reading alone needs none. */
  numberOf(piece: Leaf): number | undefined {
    for (; this.#numbered < this.#pieces.length; this.#numbered++) {
      const each = this.#pieces[this.#numbered]
      if (each && !this.#numbers.has(each.key)) this.#numbers.set(each.key, this.#numbered)
    }
    return this.#numbers.get(piece.key)
  }
}

export class NewLeafNumbers implements LeafNumbers {
  readonly added: Leaf[] = []
  readonly #before: SegmentLeaves
  readonly #first: number
  readonly #numbers = new Map<string, number>()

  constructor(before: SegmentLeaves) {
    this.#before = before
    this.#first = before.next
  }

  numberFor(piece: Leaf): number | StoredLeaf {
    if (piece.isSmall) return piece.stored
    const known = this.#before.numberOf(piece) ?? this.#numbers.get(piece.key)
    if (known !== undefined) return known
    const number = this.#first + this.added.length
    this.#numbers.set(piece.key, number)
    this.added.push(piece)
    return number
  }

  /** The fields of a line for its new leaves. `rest` is the other content of the line, `bytes` the size of the segment before it. */
  brought(rest: unknown, bytes: number): Pick<CheckpointLine, "first" | "values" | "bytes"> {
    const own = this.added.reduce((sum, piece) => sum + piece.bytes, JSON.stringify(rest).length + LINE_BYTES)
    return { first: this.#first, values: this.added.map(({ stored }) => stored), bytes: bytes + own }
  }
}

/** Segments smaller than this are never rewritten. */
const MIN_SIZE = 256_000 // characters
/**
 * Maximum size of a segment as a multiple of the states that are still needed. It limits the cost of reading to a few times the state,
 * whatever the length of the thread.
 */
const MAX_TIMES = 3
const CHECK_AGAIN_FACTOR = 1.5

export interface Write {
  readonly task: string
  readonly index: number
  readonly channel: string
  readonly value: Node
}

/** The content of a new checkpoint. */
export interface CheckpointDraft {
  readonly ns: string
  readonly id: string
  readonly parent: string | undefined
  readonly state: Node
}

interface StoredWrite extends Omit<Write, "value"> {
  readonly value: Change
}

interface Head {
  readonly uuid: string
  readonly state: Node
}

export class Segment {
  readonly number: number
  readonly thread: string
  /** Whether the first line of the segment is lost, so that earlier segments are unknown. */
  readonly isHeadless: boolean
  readonly #pieces = new SegmentLeaves()
  /** The newest checkpoint of each namespace, in any segment. */
  readonly #newest = new Map<string, string>()
  readonly #elsewhere = new Map<string, CheckpointLocation>()
  /** The newest checkpoint of each namespace in earlier segments. */
  readonly #earlier: ReadonlyMap<string, string>
  readonly #steps = new Map<string, CheckpointLine[]>()
  /** The valid line of each checkpoint. */
  readonly #last = new Map<string, CheckpointLine>()
  readonly #heads = new Map<string, Head>()
  readonly #writes = new Map<string, Map<string, StoredWrite>>()
  #bytes = 0
  #lookAt = MIN_SIZE
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

  /** The first line of the next segment. */
  nextLine(): SegmentLine {
    const segment = this.number + 1
    const known = new Map(this.#elsewhere)
    for (const [key, { ns, id, again }] of this.#last)
      if (again || this.#newest.get(ns) === id)
        known.set(key, { ns, id, segment: this.number, ...(again ? { isMoved: again } : {}) })
    const elsewhere = [...known.values()].flatMap(({ isNewest: _, ...each }) => {
      if (this.#newest.get(each.ns) === each.id) return [{ ...each, isNewest: true as const }]
      return each.isMoved ? [each] : [] // other checkpoints are found through their own line
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

  /** The largest id in earlier segments, of one namespace or of all. */
  newestEarlier(ns: string | undefined): string | undefined {
    return ns === undefined ? [...this.#earlier.values()].sort().at(-1) : this.#earlier.get(ns)
  }

  has(ns: string, id: string): boolean {
    return this.#last.has(keyOf(ns, id))
  }

  /** Number of the segment that contains a checkpoint, as far as this one knows. */
  placeOf(ns: string, id: string): number | undefined {
    return this.has(ns, id) ? this.number : this.#elsewhere.get(keyOf(ns, id))?.segment
  }

  /** Whether an earlier segment may contain the checkpoint. Ids increase over time. */
  mayBeEarlier(ns: string, id: string): boolean {
    const newest = this.#newest.get(ns)
    return this.number > 0 && newest !== undefined && id <= newest
  }

  /** The lines of checkpoints in the order in which they were written. */
  lines(ns?: string): readonly CheckpointLine[] {
    return ns === undefined ? [...this.#steps.values()].flat() : (this.#steps.get(ns) ?? [])
  }

  /** The state of a checkpoint. It must be read at once, because a later line changes it. `undefined` if its base was lost. */
  stateOf(ns: string, id: string): Node | undefined {
    const last = this.#last.get(keyOf(ns, id))
    if (!last) return undefined
    const head = this.#heads.get(ns)
    if (head?.uuid === last.uuid) return head.state
    for (const { line, state } of this.replay(ns)) if (line === last) return state
    return undefined
  }

  /** The state after the last line of a namespace. */
  headOf(ns: string): Node | undefined {
    return this.#heads.get(ns)?.state
  }

  /** Yields each checkpoint of a namespace with its state, first to last. The next one changes the state in place. */
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
        state: applyChange(line.base === undefined ? undefined : head?.state, line.change, this.#pieces),
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
      value: applyChange(undefined, value, this.#pieces),
    }))
  }

  /** `pieces`: the leaves of the line, if already in memory. */
  take(line: ThreadLine, leaves?: readonly Leaf[]): void {
    this.#lastUuid = line.uuid
    if (line.kind === "segment") return
    this.#pieces.take(line, leaves)
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
    const kept = this.#writes.get(key) ?? new Map<string, StoredWrite>()
    this.#writes.set(key, kept)
    for (const [index, channel, value] of writes) kept.set(slotOf(task, index), { task, index, channel, value })
  }

  /** Whether the next checkpoint should start a new segment, because most of this one is no longer needed. */
  isDue({ ns, state }: CheckpointDraft): boolean {
    if (this.#bytes <= this.#lookAt) return false
    const others = [...this.#heads].filter(([each]) => each !== ns && !isOfOneTask(each))
    const needed = others.reduce((sum, [, head]) => sum + sizeOf(head.state), sizeOf(state))
    if (this.#bytes > MIN_SIZE + MAX_TIMES * needed) return true
    this.#lookAt = Math.max(CHECK_AGAIN_FACTOR * this.#bytes, MIN_SIZE + MAX_TIMES * needed)
    return false
  }

  /** Whether an equal checkpoint exists. */
  isSame({ ns, id, parent, state }: CheckpointDraft): boolean {
    const old = this.stateOf(ns, id)
    return old !== undefined && parent === this.parentOf(ns, id) && isEqual(old, state)
  }

  /** Creates and applies the line of a checkpoint. Returns undefined if an equal one exists. */
  addCheckpoint({ ns, id, parent, state }: CheckpointDraft, isAgain = false): CheckpointLine | undefined {
    const written = this.#last.get(keyOf(ns, id))
    if (this.isSame({ ns, id, parent, state })) return undefined
    const head = this.#heads.get(ns)
    const leaves = new NewLeafNumbers(this.#pieces)
    const change = changeBetween(head?.state, state, leaves) ?? { m: [] }
    const again = isAgain || written !== undefined
    const uuid = again ? lineId("checkpoint", ns, id, this.number, this.#bytes) : checkpointId(ns, id)
    const line: CheckpointLine = {
      ...{ kind: "checkpoint", uuid, segment: this.number, ns, id },
      ...(parent === undefined ? {} : { parent }),
      ...(head ? { base: head.uuid } : {}),
      ...(again ? { again } : {}),
      ...(this.#lookAt === MIN_SIZE ? {} : { lookAt: this.#lookAt }),
      ...leaves.brought(change, this.#bytes),
      change,
    }
    this.take(line, leaves.added)
    return line
  }

  /** Creates and applies the line of writes that are new. A write with a negative index replaces an earlier one. */
  addWrites(
    { ns, id, task }: Pick<WritesLine, "ns" | "id" | "task">,
    writes: readonly Write[],
  ): WritesLine | undefined {
    const kept = this.#writes.get(keyOf(ns, id))
    const added = writes.filter(({ index, value, channel }) => {
      const old = kept?.get(slotOf(task, index))
      if (!old) return true
      if (index >= 0) return false
      return old.channel !== channel || !isEqual(applyChange(undefined, old.value, this.#pieces), value)
    })
    if (added.length === 0) return undefined
    const leaves = new NewLeafNumbers(this.#pieces)
    const rows = added.map(
      ({ index, channel, value }) => [index, channel, changeBetween(undefined, value, leaves)!] as const,
    )
    const line: WritesLine = {
      ...{ kind: "writes", segment: this.number, ns, id, task },
      uuid: lineId("writes", ns, id, task, this.number, this.#bytes, JSON.stringify(rows)),
      ...leaves.brought(rows, this.#bytes),
      writes: rows,
    }
    this.take(line, leaves.added)
    return line
  }
}

/** Applies lines to a segment, starting new segments where needed. */
export function segmentAfter(before: Segment | undefined, lines: Iterable<ThreadLine>): Segment | undefined {
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

const isEqual = (one: Node, other: Node): boolean => changeBetween(one, other, { numberFor: () => 0 }) === undefined

const keyOf = (ns: string, id: string): string => JSON.stringify([ns, id])

const slotOf = (task: string, index: number): string => `${task},${index}`

/**
 * Whether a namespace belongs to a single task. The namespace of a subgraph contains the id of its task, unless the graph preserves its
 * state between calls.
 */
const isOfOneTask = (ns: string): boolean => ns.includes(":")
