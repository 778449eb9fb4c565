/**
 * The outline of a block or tool: its JSON without its cache mark, with a number in place of each long string. Two that have the same
 * outline are the same. It takes less time than JSON and its hash, because a string that is known is only compared.
 */

const LONG = 200 // characters
const MOST_CHARACTERS = 16 * 1024 * 1024 // of the strings of one generation; two are kept

interface Known {
  readonly text: string
  /** Never given to another text. A text that comes again after it was dropped gets a new one. */
  readonly number: number
  generation: number
  /** The one that came after it last time. Requests repeat each other, so it is tried first: that is quicker than to look it up. */
  next?: Known | undefined
}

export class Outlines {
  #young = new Map<string, Known>()
  #old = new Map<string, Known>()
  #generation = 0
  #characters = 0
  #numbers = 0
  #latest: Known | undefined

  of(value: object): string {
    return this.#fields(value, "cache_control")
  }

  #outline(value: unknown): string {
    if (typeof value === "string") return value.length > LONG ? `#${this.#numberOf(value)}` : JSON.stringify(value)
    if (typeof value !== "object" || value === null) return String(value)
    return Array.isArray(value) ? `[${value.map((inner) => this.#outline(inner)).join()}]` : this.#fields(value)
  }

  #fields(value: object, except?: string): string {
    let text = "{"
    for (const [key, inner] of Object.entries(value))
      if (key !== except) text += `${JSON.stringify(key)}:${this.#outline(inner)},`
    return `${text}}`
  }

  #numberOf(text: string): number {
    const expected = this.#latest?.next
    if (expected?.generation !== this.#generation || expected.text !== text) {
      const found = this.#young.get(text) ?? this.#keep(text)
      if (this.#latest) this.#latest.next = found
      this.#latest = found
    } else this.#latest = expected
    return this.#latest.number
  }

  #keep(text: string): Known {
    if (this.#characters + text.length > MOST_CHARACTERS) this.#startGeneration()
    const known = this.#old.get(text) ?? { text, number: this.#numbers++, generation: 0 }
    known.generation = this.#generation
    this.#young.set(text, known)
    this.#characters += text.length
    return known
  }

  #startGeneration(): void {
    for (const dropped of this.#old.values()) dropped.next = undefined
    this.#old = this.#young
    this.#young = new Map()
    this.#characters = 0
    this.#generation++
  }
}
