/**
 * The terms by which passages are found: those of `termsOf`, and exact names as they are written. A path, a version or an address counts as
 * one term too: its parts alone are in too many places.
 */
import { termsOf } from "../../base/terms.ts"

const MAX_NAME = 80 // characters; longer ones are data, and the beginning names them
const MAX_REMEMBERED = 50_000 // runs whose terms are remembered: tool results repeat the same words
const MAX_REMEMBERED_ASKED = 5_000

/** A question can be a pasted log. Only its beginning is looked up: each term costs a query. */
const MAX_QUESTION = 20_000 // characters
const MAX_LOOKED_UP = 200

const remembered = new Map<string, readonly string[]>()

interface CountedTerms {
  /** How often each term is in the text. */
  readonly counts: ReadonlyMap<string, number>
  /** Terms in all, with repetitions. */
  readonly length: number
}

export function countedTerms(text: string): CountedTerms {
  const counts = new Map<string, number>()
  let length = 0
  for (const piece of piecesIn(text))
    for (const term of termsOfPiece(piece)) {
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
  for (const piece of piecesIn(text.slice(0, MAX_QUESTION))) {
    for (const term of askedWith(piece)) if (!terms.has(term.term)) terms.set(term.term, term)
    if (terms.size >= MAX_LOOKED_UP) break
  }
  return [...terms.values()].slice(0, MAX_LOOKED_UP)
}

const rememberedAsked = new Map<string, readonly QuestionTerm[]>()

/** The messages before a question are asked with it, so most of it was looked at before. */
function askedWith(piece: string): readonly QuestionTerm[] {
  const known = rememberedAsked.get(piece)
  if (known) return known
  const isName = looksLikeName(piece)
  const terms = [
    ...termsOf(piece).map(({ stem, word }) => ({ term: familyOf(stem), word, isName })),
    ...namesIn(piece).map((name) => ({ term: name, word: name, isName: true })),
  ]
  if (rememberedAsked.size >= MAX_REMEMBERED_ASKED) rememberedAsked.clear()
  if (piece.length <= MAX_NAME) rememberedAsked.set(piece, terms)
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

function* piecesIn(text: string): Generator<string> {
  for (const [piece] of text.matchAll(/[^\s"'`()<>[\]{},;|]+(?:'[a-z]+)?/g)) yield piece
}

function termsOfPiece(piece: string): readonly string[] {
  const known = remembered.get(piece)
  if (known) return known
  const terms = [...termsOf(piece).map(({ stem }) => familyOf(stem)), ...namesIn(piece)]
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  if (piece.length <= MAX_NAME) remembered.set(piece, terms)
  return terms
}

/** "mentorship" is about a mentor. The stemmer leaves these endings. */
const familyOf = (stem: string): string => stem.replace(/(?<=^[a-z]{4,})(?:ship|hood)$/, "")

/** "check-up" and "checkup" are one word. */
const HYPHENATED = /^\p{L}+(?:-\p{L}+)+$/u

/** `src/foo/bar.ts:120` is one name, and has the name `bar.ts` in it. */
function namesIn(piece: string): readonly string[] {
  const bare = piece.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase()
  if (bare.length > MAX_NAME) return [bare.slice(0, MAX_NAME)]
  const parts = bare.split(/[/:=@\\]+/)
  return [...new Set([bare, ...parts])]
    .filter((name) => /[\p{L}\p{N}][^\p{L}\p{N}_'’]+[\p{L}\p{N}]/u.test(name))
    .flatMap((name) =>
      HYPHENATED.test(name) ? termsOf(name.replaceAll("-", "")).map(({ stem }) => familyOf(stem)) : name,
    )
}
