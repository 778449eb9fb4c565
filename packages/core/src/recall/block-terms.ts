/**
 * The terms by which blocks are found: those of `termsOf`, and exact names as they are written. A path, a version or an address counts as
 * one term too: its parts alone are in too many places.
 */
import { termsOf } from "../base/terms.ts"

const LONGEST_NAME = 80 // characters; longer ones are data, and the beginning names them
const MOST_REMEMBERED = 50_000 // runs whose terms are remembered: tool results repeat the same words

/** A question can be a pasted log. Only its beginning is looked up: each term costs a query. */
const LONGEST_QUESTION = 20_000 // characters
const MOST_ASKED = 200

const remembered = new Map<string, readonly string[]>()

/** The terms of a text, each once, in the order of their first use. */
export function blockTerms(text: string): readonly string[] {
  const terms = new Set<string>()
  for (const [piece] of text.matchAll(/[^\s"'`()<>[\]{},;|]+/g)) for (const term of termsOfPiece(piece)) terms.add(term)
  return [...terms]
}

/** The terms that a question looks for. */
export const questionTerms = (text: string): readonly string[] => blockTerms(beginningOf(text)).slice(0, MOST_ASKED)

export const hasTerms = (question: string): boolean => questionTerms(question).length > 0

/** The pieces of a question between spaces, without the punctuation around them. */
export function piecesOf(text: string): readonly string[] {
  const pieces = beginningOf(text)
    .split(/\s+/)
    .map((piece) => piece.replace(/^[^\p{L}\p{N}_$#@./-]+|[^\p{L}\p{N}_$]+$/gu, ""))
  return [...new Set(pieces)].filter((piece) => [...piece].length > 1).slice(0, MOST_ASKED)
}

const beginningOf = (question: string): string => question.slice(0, LONGEST_QUESTION)

function termsOfPiece(piece: string): readonly string[] {
  const known = remembered.get(piece)
  if (known) return known
  const terms = [...termsOf(piece).map(({ stem }) => stem), ...namesIn(piece)]
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  if (piece.length <= LONGEST_NAME) remembered.set(piece, terms)
  return terms
}

/** `src/foo/bar.ts:120` is one name, and has the name `bar.ts` in it. */
function namesIn(piece: string): readonly string[] {
  const bare = piece.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase()
  if (bare.length > LONGEST_NAME) return [bare.slice(0, LONGEST_NAME)]
  const parts = bare.split(/[/:=@\\]+/)
  return [...new Set([bare, ...parts])].filter((name) => /[\p{L}\p{N}][^\p{L}\p{N}_]+[\p{L}\p{N}]/u.test(name))
}
