/**
 * Keeps JSON as it was written. `JSON.parse` and `JSON.stringify` can change a text: `1.0` becomes `1`, large numbers lose digits, numeric
 * keys move to the front, white space disappears. A message or block with a field that would change keeps the text of that field under a
 * symbol, and `stringifyExact` writes the text back. A text counts only while the field has the value that was read, so code that
 * replaces a value need not know of texts.
 */
import { DEEPEST } from "./shapes/shapes.ts"

const TEXTS = Symbol("fields as they were written")

interface Written {
  readonly value: unknown
  readonly text: string
}

type FieldTexts = ReadonlyMap<string, Written>

const textsOf = (object: object): FieldTexts | undefined =>
  (object as { readonly [TEXTS]?: FieldTexts } | null)?.[TEXTS]

function textOfField(object: object, key: string): string | undefined {
  const written = textsOf(object)?.get(key)
  return written && Object.is(written.value, (object as Readonly<Record<string, unknown>>)[key])
    ? written.text
    : undefined
}

/** The JSON text of a block's input, if it differs from what `JSON.stringify` would write. */
export const exactInputOf = (block: object): string | undefined => textOfField(block, "input")

/** A tool_use whose input is written as `text`, which must be valid JSON. */
export function withExactInput<T extends { readonly input: unknown }>(block: T, text: string): T {
  const input: unknown = JSON.parse(text)
  const plain = { ...block, input }
  return JSON.stringify(input) === text ? plain : { ...plain, [TEXTS]: new Map([["input", { value: input, text }]]) }
}

/** Whether a message or block, or a block inside it, has a field that must be written exactly. */
export function hasExactText(object: object): boolean {
  if (typeof object !== "object" || object === null) return false
  const { content } = object as { readonly content?: unknown }
  return textsOf(object) !== undefined || (Array.isArray(content) && content.some(hasExactText))
}

/** The texts of `from` for `copy`, which has the same fields. Each is on one line, as a journal needs it: a line end is white space here. */
export function copyTexts(from: object, copy: Record<PropertyKey, unknown>): void {
  const texts = textsOf(from)
  if (!texts) return
  const kept = [...texts.keys()].flatMap((key): [string, Written][] => {
    const text = textOfField(from, key)
    return text === undefined ? [] : [[key, { value: copy[key], text: onOneLine(text) }]]
  })
  copy[TEXTS] = new Map(kept)
}

/** JSON has line ends only between its tokens. */
export const onOneLine = (json: string): string => json.replaceAll(/[\r\n]/g, " ")

/** Like `JSON.stringify`, but writes fields as they were written. Slower, so use it only if `hasExactText`. */
export function stringifyExact(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => stringifyExact(item ?? null)).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${JSON.stringify(key)}:${textOfField(value, key) ?? stringifyExact(item)}`)
  return `{${fields.join(",")}}`
}

/**
 * Parses JSON and keeps the texts of messages and blocks: of objects with a role, of what is in a list named `content`, and of the input of
 * calls wherever they are. Much slower than `JSON.parse`, so it is used only where `JSON.parse` would lose something.
 */
export function parseExact(text: string): unknown {
  const canonical: unknown = JSON.parse(text)
  if (JSON.stringify(canonical) === text) return canonical
  return new ExactReader(text).read()
}

const CALL = /^(?:server_|mcp_)?tool_use$/

/** A JSON reader that remembers how fields were written. The text must be valid JSON. */
class ExactReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): unknown {
    this.#skipSpace()
    return this.#value()
  }

  /** `isBlock`: in a list named `content`. */
  #value(key = "", isBlock = false): unknown {
    const first = this.#text[this.#at]
    if (first === "{") return this.#object(isBlock)
    if (first === "[") return this.#array(key === "content")
    const end = first === '"' ? this.#stringEnd() : this.#literalEnd()
    const value: unknown = JSON.parse(this.#text.slice(this.#at, end))
    this.#at = end
    return value
  }

  #object(isBlock: boolean): unknown {
    const object: Record<string, unknown> = {}
    const places = new Map<string, readonly [number, number]>()
    this.#at++
    for (this.#skipSpace(); this.#text[this.#at] !== "}"; this.#skipSeparator()) {
      const keyEnd = this.#stringEnd()
      const key = JSON.parse(this.#text.slice(this.#at, keyEnd)) as string
      this.#at = keyEnd
      this.#skipSpace()
      this.#at++ // the colon
      this.#skipSpace()
      const start = this.#at
      // defineProperty, so that a key named __proto__ is an ordinary key
      const value = this.#value(key)
      Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
      places.set(key, [start, this.#at])
    }
    this.#at++
    const { type, role } = object
    if (isBlock || typeof role === "string") return this.#withTexts(object, places)
    return typeof type === "string" && CALL.test(type)
      ? this.#withTexts(object, new Map([...places].filter(([key]) => key === "input")))
      : object
  }

  #withTexts(object: Record<string, unknown>, places: ReadonlyMap<string, readonly [number, number]>): object {
    const texts = [...places].flatMap(([key, [start, end]]): [string, Written][] => {
      const value = object[key]
      if (key === "content" && Array.isArray(value)) return [] // its blocks have theirs
      const text = this.#text.slice(start, end)
      return JSON.stringify(value) === text ? [] : [[key, { value, text }]]
    })
    return texts.length > 0 ? { ...object, [TEXTS]: new Map(texts) } : object
  }

  #array(hasBlocks: boolean): unknown[] {
    const array: unknown[] = []
    this.#at++
    for (this.#skipSpace(); this.#text[this.#at] !== "]"; this.#skipSeparator()) array.push(this.#value("", hasBlocks))
    this.#at++
    return array
  }

  #stringEnd(): number {
    let at = this.#at + 1
    while (this.#text[at] !== '"') at += this.#text[at] === "\\" ? 2 : 1
    return at + 1
  }

  #literalEnd(): number {
    let at = this.#at
    while (at < this.#text.length && !/[\s,\]}]/.test(this.#text[at]!)) at++
    return at
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? "x")) this.#at++
  }

  #skipSeparator(): void {
    this.#skipSpace()
    if (this.#text[this.#at] === ",") this.#at++
    this.#skipSpace()
  }
}

// Copies a value from outside as plain JSON, so that what is sent now equals what is read from the journal later. A value that JSON cannot
// carry, or would change, is refused with its place.

const MAX_PATH = 120 // characters

export class NotJsonError extends Error {
  /** For example `content[0].input.when` */
  readonly at: string

  constructor(at: string, what: string) {
    super(what)
    this.at = at.length > MAX_PATH ? `${at.slice(0, MAX_PATH)}…` : at
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
