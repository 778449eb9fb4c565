/**
 * Whether an object still has what it had when it was serialised. Most of a state is the same from step to step: looking is much cheaper than
 * serialising it again, since texts are compared by reference. An object that a program changes in place is seen all the same.
 */

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
