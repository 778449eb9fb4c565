/** Finds a "never" or a "do not" that a summary lost: words that the conversation has in a row only with it in between. */
import type { Steps } from "../../../base/in-slices.ts"
import type { TokenIndex } from "./token-index.ts"

const NEGATIONS: readonly (readonly string[])[] = [
  "do not",
  "don t",
  "does not",
  "doesn t",
  "must not",
  "mustn t",
  "should not",
  "shouldn t",
  "can not",
  "can t",
  "never",
  "not",
  "cannot",
  "without",
  "nicht",
  "niemals",
  "nie",
  "jamais",
  "nunca",
  "不 要",
  "不",
].map((each) => each.split(" "))
const BEFORE = 2 // words that must be the same on each side
const AFTER = 2
const MOST_PLACES = 20 // that have the same words around a negation
const TOKENS_PER_STEP = 500
const FEWEST_TOKENS = 7 // in a row, on both sides together

export interface Lost {
  /** Of the first word after what is missing. */
  readonly at: number
  /** What is missing. */
  readonly negation: string
}

export function* lostNegations(tokens: readonly string[], index: TokenIndex): Steps<readonly Lost[]> {
  const wanted = new Set<string>()
  for (let at = BEFORE; at + AFTER <= tokens.length; at++) wanted.add(key(tokens, at, at))
  const around = new Map<string, { readonly from: number; readonly to: number }[]>()
  for (const words of NEGATIONS) {
    yield
    for (const from of index.at(words[0]!)) {
      const to = from + words.length
      if (words.some((word, step) => index.tokens[from + step] !== word)) continue
      const found = key(index.tokens, from, to)
      if (!wanted.has(found)) continue
      const places = around.get(found)
      if (places && places.length < MOST_PLACES) places.push({ from, to })
      else if (!places) around.set(found, [{ from, to }])
    }
  }
  const lost: Lost[] = []
  for (let at = BEFORE; at + AFTER <= tokens.length; at++) {
    if (at % TOKENS_PER_STEP === 0) yield
    const places = around.get(key(tokens, at, at))
    if (!places || index.has(tokens.slice(at - BEFORE, at + AFTER))) continue
    for (const { from, to } of places) {
      const before = sameBefore(tokens, at, index.tokens, from)
      const after = sameAfter(tokens, at, index.tokens, to)
      if (before + after < FEWEST_TOKENS) continue
      lost.push({ at, negation: index.tokens.slice(from, to).join(" ").replace(/ t$/, "'t") })
      break
    }
  }
  return lost
}

const key = (tokens: readonly string[], end: number, start: number) =>
  `${tokens.slice(Math.max(0, end - BEFORE), end).join(" ")}|${tokens.slice(start, start + AFTER).join(" ")}`

const LONGEST = 40 // words that are compared

function sameBefore(some: readonly string[], at: number, others: readonly string[], from: number): number {
  let count = 0
  while (count < LONGEST && at > count && from > count && some[at - 1 - count] === others[from - 1 - count]) count++
  return count
}

function sameAfter(some: readonly string[], at: number, others: readonly string[], to: number): number {
  let count = 0
  while (count < LONGEST && at + count < some.length && some[at + count] === others[to + count]) count++
  return count
}
