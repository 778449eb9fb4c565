/** The terms that a question looks for, each with its weight: the rarer in the index, the more it says. */

import { type Term, termsOf } from "../base/terms.ts"
import type { NamedTime } from "./named-time.ts"

/** A question can be a pasted log. Only its first terms are looked up, and only the rarest of those count. */
const MOST_LOOKED_UP = 200
const MOST_ASKED = 24
const MOST_CONTEXT_TERMS = 40

export interface Wanted {
  readonly stem: string
  readonly word: string
  readonly weight: number
  /** In how many passages it is. */
  readonly documents: number
  /** Of the question itself, not of the context. */
  readonly isAsked: boolean
}

export interface Vocabulary {
  /** Passages in the index. */
  readonly count: number
  readonly documentsWith: (stem: string) => number
}

export interface WantedOptions {
  readonly vocabulary: Vocabulary
  readonly time: NamedTime | undefined
  /** What a term of the context counts, beside one of the question. */
  readonly contextWeight: number
}

/** The words that name a time are compared with times. As words they count no more than context does. */
export function wantedTerms(
  { text, context = [] }: { readonly text: string; readonly context?: readonly string[] },
  { vocabulary, time, contextWeight }: WantedOptions,
): readonly Wanted[] {
  const weighed = ([stem, word]: readonly [string, string]) => {
    const documents = vocabulary.documentsWith(stem)
    return { stem, word, documents, weight: rarity(documents, vocabulary.count) }
  }
  const asked = distinct(termsOf(time ? text.replace(time.phrase, " ") : text))
    .slice(0, MOST_LOOKED_UP)
    .map((term) => ({ ...weighed(term), isAsked: true }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_ASKED)
  const isAsked = new Set(asked.map(({ stem }) => stem))
  const around = distinct([...context.flatMap(termsOf), ...termsOf(time?.phrase ?? "")].slice(-MOST_CONTEXT_TERMS))
    .filter(([stem]) => !isAsked.has(stem))
    .map(weighed)
    .map((term) => ({ ...term, weight: contextWeight * term.weight, isAsked: false }))
  return [...asked, ...around]
}

/** The inverse document frequency of BM25. */
const rarity = (documents: number, count: number) => Math.log(1 + (count - documents + 0.5) / (documents + 0.5))

const distinct = (terms: readonly Term[]) => [...new Map(terms.map(({ stem, word }) => [stem, word]))]
