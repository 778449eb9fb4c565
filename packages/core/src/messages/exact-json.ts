/**
 * Keeps tool inputs byte for byte as the model wrote them. `JSON.parse` and `JSON.stringify` can change a text: `1.0` becomes
 * `1`, large numbers lose digits, numeric keys move to the front, white space disappears. A tool_use that would change keeps
 * its own text under a symbol, and `stringifyExact` writes that text back.
 */
import type { Block } from "./blocks.ts"

const INPUT_TEXT = Symbol("the input as the model wrote it")

interface WithInputText {
  readonly [INPUT_TEXT]?: string
}

/** The JSON text of a block's input, if it differs from what `JSON.stringify` would write. */
export function exactInputOf(block: object): string | undefined {
  return (block as WithInputText | null)?.[INPUT_TEXT]
}

/** A tool_use whose input is written as `text`, which must be valid JSON. */
export function withExactInput<T extends { readonly input: unknown }>(block: T, text: string): T {
  const input: unknown = JSON.parse(text)
  const plain = { ...block, input }
  return JSON.stringify(input) === text ? plain : { ...plain, [INPUT_TEXT]: text }
}

/** Whether any block has an input that must be written exactly. */
export function hasExactInput(blocks: readonly Block[]): boolean {
  return blocks.some((block) => exactInputOf(block) !== undefined)
}

/** Like `JSON.stringify`, but writes exact inputs unchanged. Slower, so use it only if `hasExactInput`. */
export function stringifyExact(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => stringifyExact(item ?? null)).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const inputText = exactInputOf(value)
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => {
      const text = key === "input" && inputText !== undefined ? inputText : stringifyExact(item)
      return `${JSON.stringify(key)}:${text}`
    })
  return `{${fields.join(",")}}`
}

/**
 * Parses JSON and keeps the input text of every `tool_use`, `server_tool_use` and `mcp_tool_use`. Much slower than
 * `JSON.parse`, so it is used only where `JSON.parse` would lose something.
 */
export function parseExact(text: string): unknown {
  const canonical: unknown = JSON.parse(text)
  if (JSON.stringify(canonical) === text) return canonical
  return new ExactReader(text).read()
}

/** A JSON reader that remembers the text of each `input`. The text must be valid JSON. */
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

  #value(): unknown {
    const first = this.#text[this.#at]
    if (first === "{") return this.#object()
    if (first === "[") return this.#array()
    const end = first === '"' ? this.#stringEnd() : this.#literalEnd()
    const value: unknown = JSON.parse(this.#text.slice(this.#at, end))
    this.#at = end
    return value
  }

  #object(): unknown {
    const object: Record<string, unknown> = {}
    let inputText: string | undefined
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
      Object.defineProperty(object, key, { value: this.#value(), enumerable: true, writable: true, configurable: true })
      if (key === "input") inputText = this.#text.slice(start, this.#at)
    }
    this.#at++
    const isUse = typeof object.type === "string" && /^(?:server_|mcp_)?tool_use$/.test(object.type)
    return isUse && inputText !== undefined ? withExactInput(object as { input: unknown }, inputText) : object
  }

  #array(): unknown[] {
    const array: unknown[] = []
    this.#at++
    for (this.#skipSpace(); this.#text[this.#at] !== "]"; this.#skipSeparator()) array.push(this.#value())
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
