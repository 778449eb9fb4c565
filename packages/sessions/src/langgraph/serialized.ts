/**
 * Converts values to nodes and back with the graph's serializer. Unchanged values that were serialized or read before are not serialized
 * again.
 */

import { DeltaSnapshot, isDeltaSnapshot, type SerializerProtocol } from "@langchain/langgraph-checkpoint"
import { Leaf, type ListNode, type MapNode, type Node, type StoredLeaf } from "./nodes.ts"

// Detects whether an object is unchanged since it was serialized. Most of a state stays the same from step to step, and comparing is much
// cheaper than serializing, since texts are compared by reference. In-place changes of an object are detected too.

/** A copy of an object's structure. Texts are shared with the object, so they are not copied. */
export type StructureCopy = { readonly what: unknown }

const NEVER = Symbol("never the same") // for values whose content cannot be compared, such as a Map
const MAX_COMPARE_DEPTH = 24 // levels; content blocks have about six

interface ObjectCopy {
  readonly names: readonly string[]
  readonly values: readonly unknown[]
}

export const copyStructure = (value: object): StructureCopy => ({ what: copyValue(value, 0) })

export const isUnchanged = (value: object, { what }: StructureCopy): boolean => isSame(value, what)

function copyValue(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value
  if (depth > MAX_COMPARE_DEPTH || isOpaque(value)) return NEVER
  if (Array.isArray(value)) return value.map((item) => copyValue(item, depth + 1))
  const names = Object.keys(value)
  const values = names.map((name) => copyValue((value as Record<string, unknown>)[name], depth + 1))
  return { names, values } satisfies ObjectCopy
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
  const { names, values } = copy as ObjectCopy
  const now = Object.keys(value)
  return (
    now.length === names.length &&
    names.every((name, at) => now[at] === name && isSame((value as Record<string, unknown>)[name], values[at]))
  )
}

/** Whether the content of objects with a given prototype is not in their fields. */
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

/** Maximum depth at which plain objects are split: a checkpoint, its channels, a channel that is an object, and the objects in it. */
const MAX_SPLIT_DEPTH = 5

interface KnownLeaf extends StructureCopy {
  readonly piece: Leaf
}

export class ValueSerializer {
  readonly #serde: SerializerProtocol
  readonly #known = new WeakMap<object, KnownLeaf>()

  constructor(serde: SerializerProtocol) {
    this.#serde = serde
  }

  /** Reads the complete value before it returns, so that later changes by the program have no effect. */
  async pack(value: unknown): Promise<Node> {
    return this.#pack(value, 0)
  }

  #pack(value: unknown, depth: number): Node | Promise<Node> {
    if (isDeltaSnapshot(value))
      return Promise.resolve(this.#pack(value.value, depth)).then((inner) => ({ kind: "snapshot", value: inner }))
    if (isPlainList(value)) return this.#packList(value)
    if (depth < MAX_SPLIT_DEPTH && isPlainObject(value)) return this.#packMap(value, depth)
    return this.#piece(value)
  }

  async #packList(list: readonly unknown[]): Promise<ListNode> {
    const items = Array.from(list, (item) => this.#piece(item)) // includes the holes of a sparse list
    const pieces: Leaf[] = []
    for (const item of items) pieces.push(item instanceof Leaf ? item : await item)
    return { kind: "list", items: pieces }
  }

  async #packMap(value: Readonly<Record<string, unknown>>, depth: number): Promise<MapNode> {
    const fields = Object.keys(value)
      .filter((name) => isSerializable(value[name]))
      .map((name) => [name, this.#pack(value[name], depth + 1)] as const)
    const packed = new Map<string, Node>()
    for (const [name, field] of fields) packed.set(name, await field)
    return { kind: "map", fields: packed }
  }

  #piece(value: unknown): Leaf | Promise<Leaf> {
    if (typeof value !== "object" || value === null) return this.#dumped(isSerializable(value) ? value : null)
    const known = this.#known.get(value)
    if (known && isUnchanged(value, known)) return known.piece
    const memory = copyStructure(value)
    return this.#dumped(value).then((piece) => {
      this.#known.set(value, { piece, ...memory })
      return piece
    })
  }

  async #dumped(value: unknown): Promise<Leaf> {
    const [kind, bytes] = await this.#serde.dumpsTyped(value)
    if (kind !== "json") return new Leaf([Buffer.from(bytes).toString("base64"), kind])
    const text = Buffer.from(bytes).toString()
    const json = JSON.parse(text) as unknown
    // preserves other spellings, such as 1.0
    return JSON.stringify(json) === text ? new Leaf([json], `[${text}]`) : new Leaf([text, kind, "text"])
  }

  async unpack(node: Node): Promise<unknown> {
    if (node instanceof Leaf) return this.#loaded(node)
    if (node.kind === "snapshot") return new DeltaSnapshot(await this.unpack(node.value))
    if (node.kind === "list") return Promise.all(node.items.map((item) => this.#loaded(item)))
    const fields = [...node.fields].map(async ([name, field]) => [name, await this.unpack(field)] as const)
    return Object.fromEntries(await Promise.all(fields)) // supports fields of any name, including `__proto__`
  }

  async #loaded(piece: Leaf): Promise<unknown> {
    const value: unknown = await this.#serde.loadsTyped(...typedOf(piece.stored))
    if (typeof value === "object" && value !== null) this.#known.set(value, { piece, ...copyStructure(value) })
    return value
  }
}

function typedOf(stored: StoredLeaf): [kind: string, data: Uint8Array | string] {
  if (stored.length === 1) return ["json", JSON.stringify(stored[0])]
  const [data, kind, form] = stored
  return [kind, form === "text" ? data : new Uint8Array(Buffer.from(data, "base64"))]
}

const isPlainList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && Object.getPrototypeOf(value) === Array.prototype

/** Whether an object can be split. An object with `lc` is LangChain's serialized form of another value, which the serializer restores. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !("lc" in value) && !("toJSON" in value)
}

/** Functions and symbols have no JSON form. */
const isSerializable = (value: unknown): boolean => typeof value !== "function" && typeof value !== "symbol"
