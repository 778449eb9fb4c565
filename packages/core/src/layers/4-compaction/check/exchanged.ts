/**
 * Step 4, check. Finds two names of a sentence that changed places, in the model's own words. It compares the words next to each name with
 * the words next to it in the conversation. A sentence is taken for altered only where the conversation speaks clearly for the other order.
 */
import type { Part } from "./claim.ts"
import type { Source } from "./source.ts"
import { isStopWord, type Name, type NameClass, namesIn, stem, tokensOf } from "./text.ts"

/** Chosen on 611 pairs of names in 24 recorded summaries: 4 of them reach the votes needed, and 348 do when exchanged. */
const VOTES = { call: 3, near: 1, adjacent: 2, order: 2, needed: 3 } as const
const MOST_PLACES = 300 // of one name
const MOST_PAIRS = 8 // of one sentence
const NEAR = 4 // words to each side of a name, in the conversation
const CONTEXT = 3 // words to each side of a name, in the summary
const LONGEST_BETWEEN = 40 // words
const MORE_BETWEEN = 3 // words that the conversation may have between two names beyond those of the summary
const LONGEST_TEXT = 400 // characters to each side that are read
/** Between two names these make a list, and a list has no order. */
const LISTED = /^[\s`*"'(),;/|+&]*(?:and|or|und|oder|et|y)?[\s`*"'(),;/|+&]*$/i
const OTHER_SENTENCE = /[.!?;]\s/

export interface Exchanges {
  /** The sentence with two names changed back. `undefined` where none changed places. */
  original(part: Part): string | undefined
}

export function exchangesIn({ index, raw }: Source): Exchanges {
  const known = new Map<string, Known>()

  function about(name: string): Known {
    const found = known.get(name)
    if (found) return found
    const tokens = tokensOf(name)
    const places = index.placesOf(tokens, MOST_PLACES)
    const [near, before, after] = [new Set<string>(), new Set<string>(), new Set<string>()]
    for (const place of places) {
      const end = place + tokens.length
      for (let step = 1; step <= NEAR; step++)
        for (const token of [index.tokens[place - step], index.tokens[end - 1 + step]])
          if (token !== undefined) near.add(stem(token))
      if (place > 0) before.add(index.tokens[place - 1]!)
      if (end < index.tokens.length) after.add(index.tokens[end]!)
    }
    const isCalled = raw.includes(`${name.toLowerCase()}(`)
    const facts = { places, length: tokens.length, near, before, after, isCalled }
    known.set(name, facts)
    return facts
  }

  /** Whether the first name comes before the second with one of these words between them. */
  function isOrdered(first: Known, second: Known, between: readonly string[]): boolean {
    const wanted = new Set(between.filter(isContent).map(stem))
    if (wanted.size === 0) return false
    let from = 0
    for (const place of first.places) {
      const start = place + first.length
      while (from < second.places.length && second.places[from]! < start) from++
      for (let at = from; at < second.places.length; at++) {
        const end = second.places[at]!
        if (end > start + between.length + MORE_BETWEEN) break
        for (let step = start; step < end; step++) if (wanted.has(stem(index.tokens[step]!))) return true
      }
    }
    return false
  }

  function isExchanged(text: string, one: Name, other: Name): boolean {
    const [first, second] = [about(one.text), about(other.text)]
    if (first.places.length === 0 || second.places.length === 0) return false
    const before = text.slice(Math.max(0, one.at - LONGEST_TEXT), one.at)
    const between = text.slice(one.at + one.text.length, other.at)
    const after = text.slice(other.at + other.text.length).slice(0, LONGEST_TEXT)
    const middle = tokensOf(between)
    if (middle.length > LONGEST_BETWEEN) return false
    const here = slotOf(tokensOf(before), middle, CALL.test(between))
    const there = slotOf(middle, tokensOf(after), CALL.test(after))
    const [own, others] = [without(here, there), without(there, here)]
    const asWritten = votes(first, own) + votes(second, others)
    const otherwise = votes(second, own) + votes(first, others)
    const order = Number(isOrdered(second, first, middle)) - Number(isOrdered(first, second, middle))
    return otherwise - asWritten + VOTES.order * order >= VOTES.needed
  }

  return {
    original({ text, names }) {
      // a file name before "()" is no name of its own, but two names that changed places make one
      const all = text.includes("()") ? namesIn(text.replaceAll("()", "  ")) : names
      const exact = all.filter((name) => KINDS.has(name.class) && /^[\p{L}_.~/\\]/u.test(name.text))
      for (const [at, one] of exact.slice(0, MOST_PAIRS).entries()) {
        const other = exact[at + 1]
        if (!other || one.text.endsWith(other.text) || other.text.endsWith(one.text)) continue // one file, in two ways
        const between = text.slice(one.at + one.text.length, other.at)
        if (LISTED.test(between) || OTHER_SENTENCE.test(between) || !isExchanged(text, one, other)) continue
        return text.slice(0, one.at) + other.text + between + one.text + text.slice(other.at + other.text.length)
      }
      return undefined
    },
  }
}

const KINDS: ReadonlySet<NameClass> = new Set(["identifiers", "paths"])

/** What the conversation has around a name. */
interface Known {
  readonly places: readonly number[]
  readonly length: number
  readonly near: ReadonlySet<string>
  readonly before: ReadonlySet<string>
  readonly after: ReadonlySet<string>
  readonly isCalled: boolean
}

/** The place of a name in a sentence: the words around it. */
interface Slot {
  readonly words: readonly string[]
  readonly before: string | undefined
  readonly after: string | undefined
  readonly isCall: boolean
}

const CALL = /^`?\(\)/
const isContent = (token: string) => !isStopWord(token)

function slotOf(before: readonly string[], after: readonly string[], isCall: boolean): Slot {
  const around = [...before.slice(-CONTEXT), ...after.slice(0, CONTEXT)]
  const words = new Set(around.filter((token) => isContent(token) && !/^\d+$/.test(token)).map(stem))
  const [last, next] = [before.at(-1), after[0]]
  return {
    words: [...words],
    before: last !== undefined && isContent(last) ? last : undefined,
    after: next !== undefined && isContent(next) ? next : undefined,
    isCall,
  }
}

/** What both places have says nothing. */
const without = (slot: Slot, other: Slot): Slot => ({
  ...slot,
  words: slot.words.filter((word) => !other.words.includes(word)),
})

function votes({ near, before, after, isCalled }: Known, slot: Slot): number {
  const adjacent = Number(slot.before !== undefined && before.has(slot.before)) + Number(after.has(slot.after ?? ""))
  const uncalled = slot.isCall && !isCalled ? VOTES.call : 0
  return VOTES.near * slot.words.filter((word) => near.has(word)).length + VOTES.adjacent * adjacent - uncalled
}
