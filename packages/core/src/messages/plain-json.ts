/**
 * Copies a value from outside as plain JSON, so that what is sent now equals what is read from the journal later. A value that JSON cannot
 * carry, or would change, is refused with its place.
 */
import { copyTexts } from "./exact-json.ts"
import { DEEPEST } from "./shapes/shape.ts"

const LONGEST_PATH = 120 // characters

export class NotJsonError extends Error {
  /** For example `content[0].input.when` */
  readonly at: string

  constructor(at: string, what: string) {
    super(what)
    this.at = at.length > LONGEST_PATH ? `${at.slice(0, LONGEST_PATH)}…` : at
  }
}

/** A frozen copy. Symbol keys stay: they hold the exact text of fields. `undefined` fields are left out, as in JSON. */
export function plainJson<T>(value: T, at = ""): T {
  return copy(value, at, DEEPEST) as T
}

function copy(value: unknown, at: string, levels: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value
    throw new NotJsonError(at, `is ${value}, which JSON has no form for`)
  }
  if (typeof value !== "object") throw new NotJsonError(at, `is ${NAMES[typeof value]}, which JSON has no form for`)
  if (levels === 0) throw new NotJsonError(at, `is nested deeper than ${DEEPEST} levels, or contains itself`)
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (let i = 0; i < value.length; i++) items.push(copy(value[i], `${at}[${i}]`, levels - 1))
    return Object.freeze(items)
  }
  if (!isPlain(value)) throw new NotJsonError(at, `is a ${value.constructor?.name ?? "special object"}, not plain JSON`)
  return Object.freeze(copyOfObject(value, at, levels))
}

function copyOfObject(value: object, at: string, levels: number): object {
  const result: Record<PropertyKey, unknown> = {}
  for (const key of Object.keys(value)) {
    const inner: unknown = (value as Record<string, unknown>)[key]
    if (inner === undefined) continue
    const copied = copy(inner, at === "" ? key : `${at}.${key}`, levels - 1)
    // defined, not assigned, so that it is an ordinary key
    if (key === "__proto__")
      Object.defineProperty(result, key, { value: copied, enumerable: true, writable: true, configurable: true })
    else result[key] = copied
  }
  for (const key of Object.getOwnPropertySymbols(value)) {
    const inner: unknown = (value as Record<symbol, unknown>)[key]
    if (inner !== undefined && Object.prototype.propertyIsEnumerable.call(value, key)) result[key] = inner
  }
  copyTexts(value, result)
  return result
}

const NAMES: Readonly<Record<string, string>> = {
  undefined: "undefined",
  function: "a function",
  symbol: "a symbol",
  bigint: "a BigInt",
}

/** A class of your own is copied by its fields. Objects that JSON writes in another form, or empty, are not. */
function isPlain(value: object): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false
  if (Object.getPrototypeOf(value) === Object.prototype) return true // the usual one
  return (
    ![Map, Set, WeakMap, WeakSet, Promise, RegExp, ArrayBuffer, Error, String, Number, Boolean].some(
      (special) => value instanceof special,
    ) && !ArrayBuffer.isView(value)
  )
}
