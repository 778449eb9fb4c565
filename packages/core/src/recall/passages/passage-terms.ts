/**
 * The terms by which passages are found: those of `termsOf`, and exact names as they are written. A path, a version or an address counts as
 * one term too: its parts alone are in too many places.
 */
import { searchTerms } from "../../base/search-terms.ts"

const MAX_NAME = 80 // characters; longer ones are data, and the beginning names them
const MAX_CACHED = 50_000 // runs whose terms are remembered: tool results repeat the same words
const MAX_CACHED_QUESTION = 5_000

/** A question can be a pasted log. Only its beginning is looked up: each term costs a query. */
const MAX_QUESTION = 20_000 // characters
const MAX_LOOKED_UP = 200

const cachedTerms = new Map<string, readonly string[]>()

interface TermCounts {
  /** How often each term is in the text. */
  readonly counts: ReadonlyMap<string, number>
  /** Terms in all, with repetitions. */
  readonly length: number
}

export function countTerms(text: string): TermCounts {
  const counts = new Map<string, number>()
  let length = 0
  for (const piece of splitRuns(text))
    for (const term of termsOfRun(piece)) {
      counts.set(term, (counts.get(term) ?? 0) + 1)
      length++
    }
  return { counts, length }
}

export interface QuestionTerm {
  readonly term: string
  /** As it was written, in lower case. */
  readonly word: string
  /** It belongs to a name: `ERR_42`, `src/foo.ts`. A name means the same wherever it is. */
  readonly isName: boolean
}

/** The terms that a question looks for, each once. */
export function questionTerms(text: string): readonly QuestionTerm[] {
  const terms = new Map<string, QuestionTerm>()
  for (const piece of splitRuns(text.slice(0, MAX_QUESTION))) {
    for (const term of runTerms(piece)) if (!terms.has(term.term)) terms.set(term.term, term)
    if (terms.size >= MAX_LOOKED_UP) break
  }
  return [...terms.values()].slice(0, MAX_LOOKED_UP)
}

const cachedQuestionTerms = new Map<string, readonly QuestionTerm[]>()

/** The messages before a question are asked with it, so most of it was looked at before. */
function runTerms(piece: string): readonly QuestionTerm[] {
  const known = cachedQuestionTerms.get(piece)
  if (known) return known
  const isName = looksLikeName(piece)
  const terms = [
    ...searchTerms(piece).map(({ stem, word }) => ({ term: stemFamily(stem), word, isName })),
    ...nestedNames(piece).map((name) => ({ term: name, word: name, isName: true })),
  ]
  if (cachedQuestionTerms.size >= MAX_CACHED_QUESTION) cachedQuestionTerms.clear()
  if (piece.length <= MAX_NAME) cachedQuestionTerms.set(piece, terms)
  return terms
}

/** The names in a question, as they are written. */
export function namesAsWritten(text: string): readonly string[] {
  const pieces = text
    .slice(0, MAX_QUESTION)
    .split(/\s+/)
    .map((piece) => piece.replace(/^[^\p{L}\p{N}_$#@./-]+|[^\p{L}\p{N}_$]+$/gu, ""))
  return [...new Set(pieces)].filter((piece) => piece.length > 1 && looksLikeName(piece)).slice(0, MAX_LOOKED_UP)
}

/** Digits, capitals inside, or signs inside: no word of a sentence. */
const looksLikeName = (piece: string): boolean =>
  /\p{N}|\p{Ll}\p{Lu}|\p{Lu}{2}|[\p{L}\p{N}][_./:@#$\\]+[\p{L}\p{N}]/u.test(piece)

/** A name that is in few texts: it has digits or signs inside. */
export const isExactName = (word: string): boolean =>
  /\p{N}.*\p{L}|\p{L}.*\p{N}|[\p{L}\p{N}][_./:@#$\\-]+[\p{L}\p{N}]/u.test(word)

function* splitRuns(text: string): Generator<string> {
  for (const [piece] of text.matchAll(/[^\s"'`()<>[\]{},;|]+(?:'[a-z]+)?/g)) yield piece
}

function termsOfRun(piece: string): readonly string[] {
  const known = cachedTerms.get(piece)
  if (known) return known
  const terms = [...searchTerms(piece).map(({ stem }) => stemFamily(stem)), ...nestedNames(piece)]
  if (cachedTerms.size >= MAX_CACHED) cachedTerms.clear()
  if (piece.length <= MAX_NAME) cachedTerms.set(piece, terms)
  return terms
}

/** "mentorship" is about a mentor. The stemmer leaves these endings. */
const stemFamily = (stem: string): string => stem.replace(/(?<=^[a-z]{4,})(?:ship|hood)$/, "")

/** "check-up" and "checkup" are one word. */
const HYPHENATED = /^\p{L}+(?:-\p{L}+)+$/u

/** `src/foo/bar.ts:120` is one name, and has the name `bar.ts` in it. */
function nestedNames(piece: string): readonly string[] {
  const bare = piece.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase()
  if (bare.length > MAX_NAME) return [bare.slice(0, MAX_NAME)]
  const parts = bare.split(/[/:=@\\]+/)
  return [...new Set([bare, ...parts])]
    .filter((name) => /[\p{L}\p{N}][^\p{L}\p{N}_'’]+[\p{L}\p{N}]/u.test(name))
    .flatMap((name) =>
      HYPHENATED.test(name) ? searchTerms(name.replaceAll("-", "")).map(({ stem }) => stemFamily(stem)) : name,
    )
}
