/**
 * Reads a JSON document that may be damaged: truncated, or with a line missing. Its fields and the items of its lists are parsed one by
 * one, so at most the damaged one is lost.
 */
import { type JsonObject, parseObject, withoutByteOrderMark } from "./json-access.ts"

export interface JsonDocument {
  readonly fields: JsonObject
  /** Fields and items that could not be read. */
  readonly damaged: number
  /** Lines skipped because they repeat the previous line. */
  readonly repeated: number
  /** Whether the document ends before its last bracket. */
  readonly isCut: boolean
}

/** `undefined` if the text does not begin as a JSON object. */
export function readDocument(text: string): JsonDocument | undefined {
  const content = withoutByteOrderMark(text).trim()
  if (!content.startsWith("{")) return undefined
  const whole = parseObject(content)
  if (whole) return { fields: whole, damaged: 0, repeated: 0, isCut: false }
  return withoutRepeatedLines(content) ?? new Salvage(content).read()
}

/** Parses the text without repeated lines. A duplicated line with a bracket makes the document invalid JSON. */
function withoutRepeatedLines(text: string): JsonDocument | undefined {
  const lines = text.split("\n")
  const once = lines.filter((line, at) => line !== lines[at - 1])
  const repeated = lines.length - once.length
  const fields = repeated > 0 ? parseObject(once.join("\n")) : undefined
  return fields && { fields, damaged: 0, repeated, isCut: false }
}

/** Sentences about the damage. */
export function damageNotes({ damaged, repeated, isCut }: JsonDocument): readonly string[] {
  if (repeated > 0) return [`lines that repeat the one before are read once: ${repeated}`]
  const what = `${damaged} of its entries could not be read`
  if (isCut) return [`the file ends early; everything complete before its end is imported, ${what}`]
  return damaged > 0 ? [`the file is damaged: ${what}; the others are imported`] : []
}

const CLOSING: Readonly<Record<string, string>> = { "{": "}", "[": "]" }

class Salvage {
  readonly #text: string
  readonly #fields: Record<string, unknown> = {}
  #at = 1
  #damaged = 0
  #isCut = false

  constructor(text: string) {
    this.#text = text
  }

  read(): JsonDocument {
    while (this.#member()) {}
    return { fields: this.#fields, damaged: this.#damaged, repeated: 0, isCut: this.#isCut }
  }

  /** Reads one member. Returns whether another one may follow. */
  #member(): boolean {
    this.#skip(/[\s,]*/y)
    if (this.#text[this.#at] === "}") return false
    const key = this.#value()
    this.#skip(/\s*:\s*/y)
    if (typeof key !== "string" || this.#at >= this.#text.length) return this.#end()
    if (this.#text[this.#at] === "[") {
      const items: unknown[] = []
      this.#fields[key] = items
      this.#at++
      this.#skip(/\s*/y)
      const first = this.#at
      while (this.#item(items, first)) {}
      return !this.#isCut
    }
    const value = this.#value()
    if (value === undefined) return this.#end()
    this.#fields[key] = value
    return true
  }

  /** Reads one item of a list. `first` is the position of the list's first item. */
  #item(items: unknown[], first: number): boolean {
    this.#skip(/[\s,]*/y)
    if (this.#text[this.#at] === "]") {
      this.#at++
      return false
    }
    // an object whose first line is lost leaves lines that look like items
    const isOfList = this.#text[first] !== "{" || this.#text[this.#at] === "{"
    const value = isOfList ? this.#value() : undefined
    if (value !== undefined) {
      items.push(value)
      return true
    }
    const next = this.#nextItem(first)
    if (next === undefined) return this.#end()
    this.#damaged++
    this.#at = next
    return true
  }

  /**
   * Finds the next item after a damaged one. In an indented document, items begin in one column, and the list ends in a column before it.
   */
  #nextItem(first: number): number | undefined {
    const line = this.#text.lastIndexOf("\n", first)
    const column = first - line - 1
    if (line < 0 || column === 0 || this.#text.slice(line, first).trim() !== "") return undefined
    const next = new RegExp(`\\n(?:[ \\t]{${column}}(?=\\{)|[ \\t]{0,${column - 1}}(?=\\]))`, "g")
    next.lastIndex = this.#at
    return next.test(this.#text) ? next.lastIndex : undefined
  }

  #end(): false {
    this.#damaged++
    this.#isCut = true
    return false
  }

  #skip(what: RegExp): void {
    what.lastIndex = this.#at
    what.test(this.#text)
    this.#at = Math.max(this.#at, what.lastIndex)
  }

  /** Reads the value at the current position and advances. `undefined` if it is incomplete or not JSON. */
  #value(): unknown {
    const end = endOf(this.#text, this.#at)
    if (end === undefined) return undefined
    try {
      const value: unknown = JSON.parse(this.#text.slice(this.#at, end))
      this.#at = end
      return value
    } catch {
      return undefined
    }
  }
}

/** The end of the value that begins at `start`, or `undefined` if it is incomplete. */
function endOf(text: string, start: number): number | undefined {
  const open: string[] = []
  // whitespace and separators, then a string, a bracket, or a number or word
  const piece = /[\s,:]*("[^"\\\n]*(?:\\.[^"\\\n]*)*"|[{}[\]]|[^\s,:"{}[\]]+)/y
  piece.lastIndex = start
  for (let found = piece.exec(text); found; found = piece.exec(text)) {
    const token = found[1]!
    if (token === "{" || token === "[") open.push(CLOSING[token]!)
    else if ((token === "}" || token === "]") && open.pop() !== token) return undefined
    const end = piece.lastIndex
    // a number at the end of the text may be incomplete
    if (open.length === 0) return end === text.length && /[\w.+-]$/.test(token) ? undefined : end
  }
  return undefined
}
