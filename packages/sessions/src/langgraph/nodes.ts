/**
 * A state as a tree whose leaves are kept once. Lists and plain objects are taken apart; everything else is a piece, as the serializer gives it.
 * Two states differ by a `Change`: what a step costs is what it adds.
 */
import { hash } from "node:crypto"

/** What the serializer gave: JSON as it is, or text or bytes (in base64) with the serializer's name for their kind. */
export type Stored =
  | readonly [json: unknown]
  | readonly [text: string, kind: string, form: "text"]
  | readonly [base64: string, kind: string]

/** Such a piece is written where it is used. */
const SMALL = 80 // characters of JSON

/** A leaf. The same content is one piece, as far as this process knows it. */
export class Piece {
  readonly stored: Stored
  #measured: { readonly bytes: number; readonly key: string } | undefined

  /** `text`: the JSON of what is stored, where the caller has it. */
  constructor(stored: Stored, text?: string) {
    this.stored = stored
    if (text !== undefined) this.#measured = measured(text)
  }

  get bytes(): number {
    return this.#measure().bytes
  }

  get isSmall(): boolean {
    return this.bytes <= SMALL
  }

  equals(other: Piece): boolean {
    return this === other || this.key === other.key
  }

  /** Equal for equal content. */
  get key(): string {
    return this.#measure().key
  }

  /** Only when it is asked for: reading a state needs no hashes. */
  #measure() {
    this.#measured ??= measured(JSON.stringify(this.stored))
    return this.#measured
  }
}

const measured = (text: string) => ({
  bytes: text.length,
  key: text.length <= SMALL ? text : hash("sha256", text, "base64url"),
})

export interface ListNode {
  readonly kind: "list"
  readonly items: Piece[]
}

export interface MapNode {
  readonly kind: "map"
  readonly fields: Map<string, Node>
}

/** What a delta channel keeps now and then in place of a value. */
export interface SnapshotNode {
  readonly kind: "snapshot"
  readonly value: Node
}

export type Node = Piece | ListNode | MapNode | SnapshotNode

/**
 * From one node to the next. A number is the piece of that number; an array is a small piece itself. `l`: so many items of the list before,
 * the new ones, and so many from its end. `m`: fields that are new or other; `u`: fields that are gone; `n`: nothing stays from before.
 */
export type Change = number | Stored | ListChange | MapChange | SnapshotChange

interface ListChange {
  readonly l: readonly [kept: number, added: readonly (number | Stored)[], keptAtEnd: number]
}

interface MapChange {
  readonly m: readonly (readonly [string, Change])[]
  readonly u?: readonly string[]
  readonly n?: 1
}

interface SnapshotChange {
  readonly s: Change
}

/** Where pieces get their numbers. */
export interface Places {
  place(piece: Piece): number | Stored
}

/** The pieces that have numbers. */
export interface Placed {
  piece(number: number): Piece
}

/** What leads from one node to another. Nothing if they are equal. */
export function changeBetween(before: Node | undefined, after: Node, places: Places): Change | undefined {
  if (after instanceof Piece) return before instanceof Piece && before.equals(after) ? undefined : places.place(after)
  const same = before !== undefined && !(before instanceof Piece) && before.kind === after.kind ? before : undefined
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

function listChange(before: ListNode | undefined, after: ListNode, places: Places): ListChange | undefined {
  const old = before?.items ?? []
  const { items } = after
  const max = Math.min(old.length, items.length)
  let kept = 0
  while (kept < max && old[kept]!.equals(items[kept]!)) kept++
  if (before && kept === old.length && kept === items.length) return undefined
  let atEnd = 0
  while (atEnd < max - kept && old.at(-1 - atEnd)!.equals(items.at(-1 - atEnd)!)) atEnd++
  return { l: [kept, items.slice(kept, items.length - atEnd).map((item) => places.place(item)), atEnd] }
}

function mapChange(before: MapNode | undefined, after: MapNode, places: Places): MapChange | undefined {
  const isReordered = before !== undefined && !keepsOrder(before, after)
  const old = isReordered ? undefined : before?.fields
  const changed = [...after.fields].flatMap(([name, node]) => {
    const change = changeBetween(old?.get(name), node, places)
    return change === undefined ? [] : [[name, change] as const]
  })
  const gone = [...(old?.keys() ?? [])].filter((name) => !after.fields.has(name))
  if (old && changed.length === 0 && gone.length === 0) return undefined
  return { m: changed, ...(gone.length > 0 ? { u: gone } : {}), ...(old ? {} : { n: 1 as const }) }
}

/** Whether the fields that stay come first, in their order. */
function keepsOrder(before: MapNode, after: MapNode): boolean {
  const names = [...after.fields.keys()]
  const stay = [...before.fields.keys()].filter((name) => after.fields.has(name))
  return stay.every((name, at) => names[at] === name)
}

/** The node after a change. Lists and maps of the node before are changed in place. Throws `MissingBase` where the change does not fit. */
export function changed(before: Node | undefined, change: Change, placed: Placed): Node {
  if (typeof change === "number") return placed.piece(change)
  if (isStored(change)) return new Piece(change)
  if ("s" in change) {
    const inner =
      before !== undefined && !(before instanceof Piece) && before.kind === "snapshot" ? before.value : undefined
    return { kind: "snapshot", value: changed(inner, change.s, placed) }
  }
  if ("l" in change) return changedList(before, change, placed)
  return changedMap(before, change, placed)
}

function changedList(before: Node | undefined, { l: [kept, added, atEnd] }: ListChange, placed: Placed): ListNode {
  const list: ListNode =
    before !== undefined && !(before instanceof Piece) && before.kind === "list" ? before : { kind: "list", items: [] }
  const { items } = list
  if (kept + atEnd > items.length) throw new MissingBase()
  const end = atEnd === 0 ? [] : items.slice(-atEnd)
  items.length = kept
  for (const item of added) items.push(isStored(item) ? new Piece(item) : placed.piece(item))
  for (const item of end) items.push(item)
  return list
}

function changedMap(before: Node | undefined, { m, u = [], n }: MapChange, placed: Placed): MapNode {
  const isMap = before !== undefined && !(before instanceof Piece) && before.kind === "map"
  if (!isMap && n !== 1) throw new MissingBase()
  const map: MapNode = isMap && n !== 1 ? before : { kind: "map", fields: new Map() }
  for (const name of u) map.fields.delete(name)
  for (const [name, change] of m) map.fields.set(name, changed(map.fields.get(name), change, placed))
  return map
}

/** A copy that later changes do not reach. */
export function copyOf(node: Node): Node {
  if (node instanceof Piece) return node
  if (node.kind === "list") return { kind: "list", items: [...node.items] }
  if (node.kind === "snapshot") return { kind: "snapshot", value: copyOf(node.value) }
  return { kind: "map", fields: new Map([...node.fields].map(([name, field]) => [name, copyOf(field)])) }
}

const isStored = (change: Change): change is Stored => Array.isArray(change)

/** What a change builds on is not there: a line of the journal was lost. */
export class MissingBase extends Error {}

/** The characters that the pieces of a node have. */
export function sizeOf(node: Node): number {
  if (node instanceof Piece) return node.bytes
  if (node.kind === "snapshot") return sizeOf(node.value)
  const parts = node.kind === "list" ? node.items : [...node.fields.values()]
  return parts.reduce((sum: number, part) => sum + sizeOf(part), 0)
}
