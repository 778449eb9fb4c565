/**
 * Preserves the exact text of JSON. `JSON.parse` and `JSON.stringify` can change a text: `1.0` becomes `1`, large numbers lose digits,
 * numeric keys move to the front, white space disappears. A message or block stores the text of a field that would change under a
 * symbol, and `stringifyExact` writes that text back. A text is used only while the field has the value that was read, so code that
 * replaces a value need not know about texts.
 */
import { MAX_DEPTH } from "./shapes/shapes.ts"

const FIELD_TEXTS = Symbol("fields as they were written")

interface FieldText {
  readonly value: unknown
  readonly text: string
}

type FieldTexts = ReadonlyMap<string, FieldText>

const fieldTexts = (object: object): FieldTexts | undefined =>
  (object as { readonly [FIELD_TEXTS]?: FieldTexts } | null)?.[FIELD_TEXTS]

function textOfField(object: object, key: string): string | undefined {
  const written = fieldTexts(object)?.get(key)
  return written && Object.is(written.value, (object as Readonly<Record<string, unknown>>)[key])
    ? written.text
    : undefined
}

/** The JSON text of a block's input, if it differs from what `JSON.stringify` would write. */
export const exactInputOf = (block: object): string | undefined => textOfField(block, "input")

/** Returns a tool_use whose input is written as `text`, which must be valid JSON. */
export function withExactInput<T extends { readonly input: unknown }>(block: T, text: string): T {
  const input: unknown = JSON.parse(text)
  const plain = { ...block, input }
  return JSON.stringify(input) === text
    ? plain
    : { ...plain, [FIELD_TEXTS]: new Map([["input", { value: input, text }]]) }
}

/** Whether a message or block, or a block inside it, has a field with an exact text. */
export function hasExactText(object: object): boolean {
  if (typeof object !== "object" || object === null) return false
  const { content } = object as { readonly content?: unknown }
  return fieldTexts(object) !== undefined || (Array.isArray(content) && content.some(hasExactText))
}

/**
 * Copies the exact texts of `from` to `copy`, which has the same fields. Each text is put on one line, because a journal entry is a
 * line.
 */
export function copyFieldTexts(from: object, copy: Record<PropertyKey, unknown>): void {
  const texts = fieldTexts(from)
  if (!texts) return
  const copied = [...texts.keys()].flatMap((key): [string, FieldText][] => {
    const text = textOfField(from, key)
    return text === undefined ? [] : [[key, { value: copy[key], text: onOneLine(text) }]]
  })
  copy[FIELD_TEXTS] = new Map(copied)
}

/** Safe for any JSON text: its line ends are all between tokens. */
export const onOneLine = (json: string): string => json.replaceAll(/[\r\n]/g, " ")

/** Like `JSON.stringify`, but writes fields with their exact text. Slower, so use it only if `hasExactText`. */
export function stringifyExact(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => stringifyExact(item ?? null)).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${JSON.stringify(key)}:${textOfField(value, key) ?? stringifyExact(item)}`)
  return `{${fields.join(",")}}`
}

/**
 * Parses JSON and stores the exact texts of messages and blocks: of objects with a role, of the items of lists named `content`, and of
 * the input of calls anywhere. Much slower than `JSON.parse`, so it does so only if `JSON.parse` would lose something.
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

  /** `isBlock`: the value is an item of a list named `content`. */
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
    const offsets = new Map<string, readonly [number, number]>()
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
      offsets.set(key, [start, this.#at])
    }
    this.#at++
    const { type, role } = object
    if (isBlock || typeof role === "string") return this.#withTexts(object, offsets)
    return typeof type === "string" && CALL.test(type)
      ? this.#withTexts(object, new Map([...offsets].filter(([key]) => key === "input")))
      : object
  }

  #withTexts(object: Record<string, unknown>, offsets: ReadonlyMap<string, readonly [number, number]>): object {
    const texts = [...offsets].flatMap(([key, [start, end]]): [string, FieldText][] => {
      const value = object[key]
      if (key === "content" && Array.isArray(value)) return [] // its blocks store their own texts
      const text = this.#text.slice(start, end)
      return JSON.stringify(value) === text ? [] : [[key, { value, text }]]
    })
    return texts.length > 0 ? { ...object, [FIELD_TEXTS]: new Map(texts) } : object
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

// Copies a value from outside as plain JSON, so that what is sent now equals what is read from the journal later. Rejects a value that
// JSON cannot represent, or would change, and names its path.

const MAX_PATH_LENGTH = 120 // characters

export class NotJsonError extends Error {
  /** For example `content[0].input.when`. */
  readonly at: string

  constructor(at: string, what: string) {
    super(what)
    this.at = at.length > MAX_PATH_LENGTH ? `${at.slice(0, MAX_PATH_LENGTH)}…` : at
  }
}

/** A frozen copy. Symbol keys stay: they hold the exact text of fields. `undefined` fields are left out, as in JSON. */
export function plainJson<T>(value: T, at = ""): T {
  return copy(value, at, MAX_DEPTH) as T
}

function copy(value: unknown, at: string, levels: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value
    throw new NotJsonError(at, `is ${value}, which JSON has no form for`)
  }
  if (typeof value !== "object")
    throw new NotJsonError(at, `is ${TYPE_NAMES[typeof value]}, which JSON has no form for`)
  if (levels === 0) throw new NotJsonError(at, `is nested deeper than ${MAX_DEPTH} levels, or contains itself`)
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
  copyFieldTexts(value, result)
  return result
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  undefined: "undefined",
  function: "a function",
  symbol: "a symbol",
  bigint: "a BigInt",
}

/**
 * Whether a value can be copied by its fields, as instances of your own classes are. Objects that JSON writes in another form, or as
 * empty, cannot.
 */
function isPlain(value: object): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false
  if (Object.getPrototypeOf(value) === Object.prototype) return true // the most common case
  return (
    ![Map, Set, WeakMap, WeakSet, Promise, RegExp, ArrayBuffer, Error, String, Number, Boolean].some(
      (special) => value instanceof special,
    ) && !ArrayBuffer.isView(value)
  )
}
