/**
 * Values as nodes and back, through the graph's own serializer. What was serialised or read before and is unchanged is not serialised again.
 */

import { DeltaSnapshot, isDeltaSnapshot, type SerializerProtocol } from "@langchain/langgraph-checkpoint"
import { type ListNode, type MapNode, type Node, Piece, type Stored } from "./nodes.ts"

// Whether an object still has what it had when it was serialised. Most of a state is the same from step to step: looking is much cheaper than
// serialising it again, since texts are compared by reference. An object that a program changes in place is seen all the same.

/** What an object had. Texts are shared with it, so this costs no copy of them. */
export type Remembered = { readonly what: unknown }

const NEVER = Symbol("never the same") // what cannot be looked into, such as a Map
const DEEPEST = 24 // content blocks have about six

interface Fields {
  readonly names: readonly string[]
  readonly values: readonly unknown[]
}

export const remembered = (value: object): Remembered => ({ what: copied(value, 0) })

export const isUnchanged = (value: object, { what }: Remembered): boolean => isSame(value, what)

function copied(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value
  if (depth > DEEPEST || isOpaque(value)) return NEVER
  if (Array.isArray(value)) return value.map((item) => copied(item, depth + 1))
  const names = Object.keys(value)
  const values = names.map((name) => copied((value as Record<string, unknown>)[name], depth + 1))
  return { names, values } satisfies Fields
}

function isSame(value: unknown, copy: unknown): boolean {
  if (copy === NEVER) return false
  if (typeof value !== "object" || value === null) return Object.is(value, copy)
  if (typeof copy !== "object" || copy === null || isOpaque(value)) return false
  if (Array.isArray(value) || Array.isArray(copy))
    return (
      Array.isArray(value) &&
      Array.isArray(copy) &&
      value.length === copy.length &&
      copy.every((item, at) => isSame(value[at], item))
    )
  const { names, values } = copy as Fields
  const now = Object.keys(value)
  return (
    now.length === names.length &&
    names.every((name, at) => now[at] === name && isSame((value as Record<string, unknown>)[name], values[at]))
  )
}

/** By prototype: objects whose content is not in their fields. */
const opaque = new WeakMap<object, boolean>()

function isOpaque(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === null || prototype === Object.prototype || prototype === Array.prototype) return false
  const known = opaque.get(prototype) ?? OPAQUE.some((kind) => value instanceof kind)
  opaque.set(prototype, known)
  return known
}

const OPAQUE = [
  Map,
  Set,
  Date,
  RegExp,
  Error,
  ArrayBuffer,
  DataView,
  Object.getPrototypeOf(Uint8Array),
  String,
  Number,
  Boolean,
]

/** How deep plain objects are taken apart: a checkpoint, its channels, a channel that is an object, and the objects in it. */
const DEEPEST_SERIALISED = 5

interface Known extends Remembered {
  readonly piece: Piece
}

export class Serialised {
  readonly #serde: SerializerProtocol
  readonly #known = new WeakMap<object, Known>()

  constructor(serde: SerializerProtocol) {
    this.#serde = serde
  }

  /** Looks at all of the value before it returns: what the program changes afterwards does not count. */
  async pack(value: unknown): Promise<Node> {
    return this.#pack(value, 0)
  }

  #pack(value: unknown, depth: number): Node | Promise<Node> {
    if (isDeltaSnapshot(value))
      return Promise.resolve(this.#pack(value.value, depth)).then((inner) => ({ kind: "snapshot", value: inner }))
    if (isPlainList(value)) return this.#packList(value)
    if (depth < DEEPEST_SERIALISED && isPlainObject(value)) return this.#packMap(value, depth)
    return this.#piece(value)
  }

  async #packList(list: readonly unknown[]): Promise<ListNode> {
    const items = Array.from(list, (item) => this.#piece(item)) // also the holes of a list
    const pieces: Piece[] = []
    for (const item of items) pieces.push(item instanceof Piece ? item : await item)
    return { kind: "list", items: pieces }
  }

  async #packMap(value: Readonly<Record<string, unknown>>, depth: number): Promise<MapNode> {
    const fields = Object.keys(value)
      .filter((name) => isSerialisable(value[name]))
      .map((name) => [name, this.#pack(value[name], depth + 1)] as const)
    const packed = new Map<string, Node>()
    for (const [name, field] of fields) packed.set(name, await field)
    return { kind: "map", fields: packed }
  }

  #piece(value: unknown): Piece | Promise<Piece> {
    if (typeof value !== "object" || value === null) return this.#dumped(isSerialisable(value) ? value : null)
    const known = this.#known.get(value)
    if (known && isUnchanged(value, known)) return known.piece
    const memory = remembered(value)
    return this.#dumped(value).then((piece) => {
      this.#known.set(value, { piece, ...memory })
      return piece
    })
  }

  async #dumped(value: unknown): Promise<Piece> {
    const [kind, bytes] = await this.#serde.dumpsTyped(value)
    if (kind !== "json") return new Piece([Buffer.from(bytes).toString("base64"), kind])
    const text = Buffer.from(bytes).toString()
    const json = JSON.parse(text) as unknown
    // another spelling, such as 1.0, comes back as it was
    return JSON.stringify(json) === text ? new Piece([json], `[${text}]`) : new Piece([text, kind, "text"])
  }

  async unpack(node: Node): Promise<unknown> {
    if (node instanceof Piece) return this.#loaded(node)
    if (node.kind === "snapshot") return new DeltaSnapshot(await this.unpack(node.value))
    if (node.kind === "list") return Promise.all(node.items.map((item) => this.#loaded(item)))
    const fields = [...node.fields].map(async ([name, field]) => [name, await this.unpack(field)] as const)
    return Object.fromEntries(await Promise.all(fields)) // makes fields of any name, also `__proto__`
  }

  async #loaded(piece: Piece): Promise<unknown> {
    const value: unknown = await this.#serde.loadsTyped(...typedOf(piece.stored))
    if (typeof value === "object" && value !== null) this.#known.set(value, { piece, ...remembered(value) })
    return value
  }
}

function typedOf(stored: Stored): [kind: string, data: Uint8Array | string] {
  if (stored.length === 1) return ["json", JSON.stringify(stored[0])]
  const [data, kind, form] = stored
  return [kind, form === "text" ? data : new Uint8Array(Buffer.from(data, "base64"))]
}

const isPlainList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && Object.getPrototypeOf(value) === Array.prototype

/** An object with `lc` is LangChain's own spelling of something else: the serializer knows what it becomes. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !("lc" in value) && !("toJSON" in value)
}

/** JSON has no place for these. */
const isSerialisable = (value: unknown): boolean => typeof value !== "function" && typeof value !== "symbol"
