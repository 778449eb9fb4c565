/**
 * Orders the passages that a search inside conversations found. What holds the question's names as they are written comes first; of two that
 * are equally good, the newer one. Each block counts once, and equal texts count once. Pure.
 */

import { piecesOf } from "./block-terms.ts"

export interface Passage {
  readonly id: number
  readonly source: string
  readonly uuid: string
  readonly blocks: string
  readonly kind: string
  readonly label?: string
  readonly time: string
  readonly start: number
  readonly length: number
  readonly text: string
}

export interface WantedTerm {
  readonly term: string
  /** In how many passages it is. */
  readonly documents: number
  /** The rarer, the more it says. */
  readonly weight: number
  /** It only resembles a word of the question. */
  readonly isSimilar: boolean
}

export interface LookedFor {
  readonly text: string
  readonly wanted: readonly WantedTerm[]
  /** By passage: the weights of the terms that it has. */
  readonly scores: ReadonlyMap<number, number>
  readonly limit: number
}

/** What a name counts, beside its terms, where it is written as in the question, and where only the case differs. */
const AS_WRITTEN = 1
const OTHER_CASE = 0.6
/** Of the best score: what is below it only shares a few common words with the question. */
const LEAST_SHARE = 0.35
/** The whole question, word for word. */
const WHOLE = 1

export interface Ranked extends Passage {
  /** Where in the text the match is. */
  readonly at: number
  readonly score: number
}

export function rankBlocks(
  { text, wanted, scores, limit }: LookedFor,
  passages: readonly Passage[],
): { readonly found: readonly Ranked[]; readonly more: number } {
  const total = wanted.reduce((sum, { weight, isSimilar }) => sum + (isSimilar ? 0 : weight), 0) || 1
  const looks = piecesOf(text)
  const ranked = passages
    .map((passage) => {
      const { bonus, at } = literally(passage.text, { text: text.trim(), looks, total })
      return { passage, at: at ?? firstOf(passage.text, wanted), score: (scores.get(passage.id) ?? 0) + bonus }
    })
    .sort((a, b) => b.score - a.score || newerFirst(a.passage, b.passage))
  const seen = new Set<string>()
  const found: Ranked[] = []
  let more = 0
  for (const { passage, at, score } of ranked) {
    if (score < LEAST_SHARE * ranked[0]!.score) break
    const keys = [`${passage.source} ${passage.uuid} ${passage.blocks}`, passage.text]
    if (keys.some((key) => seen.has(key))) continue
    for (const key of keys) seen.add(key)
    if (found.length < limit) found.push({ ...passage, at, score })
    else more++
  }
  return { found, more }
}

const newerFirst = (a: Passage, b: Passage) => (a.time < b.time ? 1 : a.time > b.time ? -1 : b.id - a.id)

interface Literal {
  readonly text: string
  readonly looks: readonly string[]
  readonly total: number
}

/** What the passage has word for word, and where the first of it is. */
function literally(passage: string, { text, looks, total }: Literal): { bonus: number; at: number | undefined } {
  const lower = passage.toLowerCase()
  const share = total / Math.max(1, looks.length)
  const isWhole = text.length > 2 && text.length <= passage.length
  const whole = isWhole ? lower.indexOf(text.toLowerCase()) : -1
  let [bonus, at] = whole < 0 ? [0, undefined as number | undefined] : [WHOLE * total, whole]
  let longest = 0
  for (const piece of looks) {
    const exact = passage.indexOf(piece)
    const found = exact < 0 ? lower.indexOf(piece.toLowerCase()) : exact
    if (found < 0) continue
    bonus += share * (exact < 0 ? OTHER_CASE : AS_WRITTEN)
    if (whole >= 0 || piece.length <= longest) continue
    longest = piece.length
    at = found
  }
  return { bonus, at }
}

function firstOf(passage: string, wanted: readonly WantedTerm[]): number {
  const lower = passage.toLowerCase()
  for (const { term } of wanted) {
    const at = lower.indexOf(term)
    if (at >= 0) return at
  }
  return 0
}
