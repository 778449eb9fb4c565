/**
 * A state as a tree whose leaves are stored once. Lists and plain objects are split; everything else is a leaf in the serializer's form. A
 * `Change` describes the difference of two states, so a step costs only what it adds.
 */
import { hash } from "node:crypto"

/** Serialized form of a leaf: plain JSON, or text or bytes (in base64) with the serializer's type name. */
export type StoredLeaf =
  | readonly [json: unknown]
  | readonly [text: string, kind: string, form: "text"]
  | readonly [base64: string, kind: string]

/** Leaves up to this size are written inline. */
const MAX_INLINE = 80 // characters of JSON

/** A leaf. Equal content is one object as far as this process knows it. */
export class Leaf {
  readonly stored: StoredLeaf
  #measured: { readonly bytes: number; readonly key: string } | undefined

  /** `text`: the JSON of `stored`, if the caller has it. */
  constructor(stored: StoredLeaf, text?: string) {
    this.stored = stored
    if (text !== undefined) this.#measured = measured(text)
  }

  get bytes(): number {
    return this.#measure().bytes
  }

  get isSmall(): boolean {
    return this.bytes <= MAX_INLINE
  }

  equals(other: Leaf): boolean {
    return this === other || this.key === other.key
  }

  /** Equal for equal content. */
  get key(): string {
    return this.#measure().key
  }

  /** Computed on demand, because reading a state needs no hashes. */
  #measure() {
    this.#measured ??= measured(JSON.stringify(this.stored))
    return this.#measured
  }
}

const measured = (text: string) => ({
  bytes: text.length,
  key: text.length <= MAX_INLINE ? text : hash("sha256", text, "base64url"),
})

export interface ListNode {
  readonly kind: "list"
  readonly items: Leaf[]
}

export interface MapNode {
  readonly kind: "map"
  readonly fields: Map<string, Node>
}

/** A snapshot that a delta channel stores occasionally instead of a value. */
export interface SnapshotNode {
  readonly kind: "snapshot"
  readonly value: Node
}

export type Node = Leaf | ListNode | MapNode | SnapshotNode

/**
 * The difference between two nodes, as stored on disk. A number refers to a leaf by its number; an array is a small leaf inline. `l`: the
 * number of items that stay at the start, the new items, and the number that stay at the end. `m`: new or changed fields; `u`: removed
 * fields; `n`: no field stays.
 */
export type Change = number | StoredLeaf | ListChange | MapChange | SnapshotChange

interface ListChange {
  readonly l: readonly [kept: number, added: readonly (number | StoredLeaf)[], keptAtEnd: number]
}

interface MapChange {
  readonly m: readonly (readonly [string, Change])[]
  readonly u?: readonly string[]
  readonly n?: 1
}

interface SnapshotChange {
  readonly s: Change
}

/** Assigns numbers to leaves. */
export interface LeafNumbers {
  numberFor(piece: Leaf): number | StoredLeaf
}

/** Looks up leaves by number. */
export interface LeafTable {
  leaf(number: number): Leaf
}

/** The change from one node to another, or undefined if they are equal. */
export function changeBetween(before: Node | undefined, after: Node, places: LeafNumbers): Change | undefined {
  if (after instanceof Leaf) return before instanceof Leaf && before.equals(after) ? undefined : places.numberFor(after)
  const same = before !== undefined && !(before instanceof Leaf) && before.kind === after.kind ? before : undefined
  switch (after.kind) {
    case "list":
      return listChange(same as ListNode | undefined, after, places)
    case "map":
      return mapChange(same as MapNode | undefined, after, places)
    case "snapshot": {
      const change = changeBetween((same as SnapshotNode | undefined)?.value, after.value, places)
      return change === undefined ? undefined : { s: change }
    }
  }
}

function listChange(before: ListNode | undefined, after: ListNode, places: LeafNumbers): ListChange | undefined {
  const old = before?.items ?? []
  const { items } = after
  const max = Math.min(old.length, items.length)
  let keptAtStart = 0
  while (keptAtStart < max && old[keptAtStart]!.equals(items[keptAtStart]!)) keptAtStart++
  if (before && keptAtStart === old.length && keptAtStart === items.length) return undefined
  let atEnd = 0
  while (atEnd < max - keptAtStart && old.at(-1 - atEnd)!.equals(items.at(-1 - atEnd)!)) atEnd++
  return {
    l: [keptAtStart, items.slice(keptAtStart, items.length - atEnd).map((item) => places.numberFor(item)), atEnd],
  }
}

function mapChange(before: MapNode | undefined, after: MapNode, places: LeafNumbers): MapChange | undefined {
  const isReordered = before !== undefined && !keepsOrder(before, after)
  const old = isReordered ? undefined : before?.fields
  const changed = [...after.fields].flatMap(([name, node]) => {
    const change = changeBetween(old?.get(name), node, places)
    return change === undefined ? [] : [[name, change] as const]
  })
  const removed = [...(old?.keys() ?? [])].filter((name) => !after.fields.has(name))
  if (old && changed.length === 0 && removed.length === 0) return undefined
  return { m: changed, ...(removed.length > 0 ? { u: removed } : {}), ...(old ? {} : { n: 1 as const }) }
}

/** Whether the remaining fields come first, in the same order. */
function keepsOrder(before: MapNode, after: MapNode): boolean {
  const names = [...after.fields.keys()]
  const stay = [...before.fields.keys()].filter((name) => after.fields.has(name))
  return stay.every((name, at) => names[at] === name)
}

/** Applies a change. Lists and maps of the previous node are changed in place. Throws `MissingBase` if the change does not fit. */
export function applyChange(before: Node | undefined, change: Change, placed: LeafTable): Node {
  if (typeof change === "number") return placed.leaf(change)
  if (isStored(change)) return new Leaf(change)
  if ("s" in change) {
    const inner =
      before !== undefined && !(before instanceof Leaf) && before.kind === "snapshot" ? before.value : undefined
    return { kind: "snapshot", value: applyChange(inner, change.s, placed) }
  }
  if ("l" in change) return applyListChange(before, change, placed)
  return applyMapChange(before, change, placed)
}

function applyListChange(
  before: Node | undefined,
  { l: [kept, added, atEnd] }: ListChange,
  placed: LeafTable,
): ListNode {
  const list: ListNode =
    before !== undefined && !(before instanceof Leaf) && before.kind === "list" ? before : { kind: "list", items: [] }
  const { items } = list
  if (kept + atEnd > items.length) throw new MissingBase()
  const end = atEnd === 0 ? [] : items.slice(-atEnd)
  items.length = kept
  for (const item of added) items.push(isStored(item) ? new Leaf(item) : placed.leaf(item))
  for (const item of end) items.push(item)
  return list
}

function applyMapChange(before: Node | undefined, { m, u = [], n }: MapChange, placed: LeafTable): MapNode {
  const isMap = before !== undefined && !(before instanceof Leaf) && before.kind === "map"
  if (!isMap && n !== 1) throw new MissingBase()
  const map: MapNode = isMap && n !== 1 ? before : { kind: "map", fields: new Map() }
  for (const name of u) map.fields.delete(name)
  for (const [name, change] of m) map.fields.set(name, applyChange(map.fields.get(name), change, placed))
  return map
}

/** A copy that later changes do not affect. */
export function copyOf(node: Node): Node {
  if (node instanceof Leaf) return node
  if (node.kind === "list") return { kind: "list", items: [...node.items] }
  if (node.kind === "snapshot") return { kind: "snapshot", value: copyOf(node.value) }
  return { kind: "map", fields: new Map([...node.fields].map(([name, field]) => [name, copyOf(field)])) }
}

const isStored = (change: Change): change is StoredLeaf => Array.isArray(change)

/** Thrown if the node that a change is based on is missing, because a line of the journal was lost. */
export class MissingBase extends Error {}

/** Total characters of the leaves of a node. */
export function sizeOf(node: Node): number {
  if (node instanceof Leaf) return node.bytes
  if (node.kind === "snapshot") return sizeOf(node.value)
  const parts = node.kind === "list" ? node.items : [...node.fields.values()]
  return parts.reduce((sum: number, part) => sum + sizeOf(part), 0)
}
