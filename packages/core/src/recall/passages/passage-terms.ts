/**
 * The terms by which passages are found: those of `searchTerms`, and exact names as written. A path, a version or an address is a term
 * itself, because its parts occur in too many texts.
 */
import { searchTerms } from "../../base/search-terms.ts"

const MAX_NAME = 80 // characters; longer names are data, identified by their prefix
const MAX_CACHED = 50_000 // cached runs: tool results repeat the same words
const MAX_CACHED_QUESTION = 5_000

/** A question can be a pasted log, so only its start is looked up: each term costs a query. */
const MAX_QUESTION = 20_000 // characters
const MAX_LOOKED_UP = 200

const cachedTerms = new Map<string, readonly string[]>()

interface TermCounts {
  /** Number of occurrences of each term in the text. */
  readonly counts: ReadonlyMap<string, number>
  /** Number of terms including repetitions. */
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
  /** As written, in lower case. */
  readonly word: string
  /** Whether it is part of a name: `ERR_42`, `src/foo.ts`. A name has the same meaning everywhere. */
  readonly isName: boolean
}

/** The distinct terms of a question. */
export function questionTerms(text: string): readonly QuestionTerm[] {
  const terms = new Map<string, QuestionTerm>()
  for (const piece of splitRuns(text.slice(0, MAX_QUESTION))) {
    for (const term of runTerms(piece)) if (!terms.has(term.term)) terms.set(term.term, term)
    if (terms.size >= MAX_LOOKED_UP) break
  }
  return [...terms.values()].slice(0, MAX_LOOKED_UP)
}

const cachedQuestionTerms = new Map<string, readonly QuestionTerm[]>()

/** Terms of a run. Cached, because each question is sent with its preceding messages. */
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

/** The names in a question, as written. */
export function namesAsWritten(text: string): readonly string[] {
  const pieces = text
    .slice(0, MAX_QUESTION)
    .split(/\s+/)
    .map((piece) => piece.replace(/^[^\p{L}\p{N}_$#@./-]+|[^\p{L}\p{N}_$]+$/gu, ""))
  return [...new Set(pieces)].filter((piece) => piece.length > 1 && looksLikeName(piece)).slice(0, MAX_LOOKED_UP)
}

/** Whether a run has digits, capitals or punctuation inside, unlike words of a sentence. */
const looksLikeName = (piece: string): boolean =>
  /\p{N}|\p{Ll}\p{Lu}|\p{Lu}{2}|[\p{L}\p{N}][_./:@#$\\]+[\p{L}\p{N}]/u.test(piece)

/** Whether a name occurs in few texts: it has digits or punctuation inside. */
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

/** Removes endings that the stemmer leaves: "mentorship" is about a mentor. */
const stemFamily = (stem: string): string => stem.replace(/(?<=^[a-z]{4,})(?:ship|hood)$/, "")

/** "check-up" and "checkup" are the same word. */
const HYPHENATED = /^\p{L}+(?:-\p{L}+)+$/u

/** Names within a name: `src/foo/bar.ts:120` contains `bar.ts`. */
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
