/** The tokens that an index lists for a passage: one for each term, and further ones for its repetitions. */
import type { NewPassage, StoredPassage } from "../../journal/passage-store.ts"
import { KINDS, type Passage } from "../passages/passage.ts"
import { countTerms } from "../passages/passage-terms.ts"
import { stopPrefixes } from "../passages/stop-prefixes.ts"

/** Increase it when terms or tokens change, together with the version of the tables in SQLite. */
export const TOKENS_VERSION = 3

/** How often the terms of a label count: a label, such as the title of a memory, names the subject of the text. */
const LABEL_COUNT = 2

export const isPlainTerm = (term: string) => /^[a-z0-9]+$/.test(term)

/** SQLite splits text by its own, older Unicode tables. In hex, every term is one word for SQLite. */
export const tokenOf = (term: string) => (isPlainTerm(term) ? term : `u${Buffer.from(term).toString("hex")}`)

// no term has an underscore
export const TWICE = "2_"
export const OFTEN = "4_"
export const PREFIX = "b_"
export const prefixToken = (beginning: string) => PREFIX + beginning

type TokenSource = Pick<Passage, "label" | "text">

/**
 * Each term, and a further token if it occurs at least twice or four times, because the index lists passages without counts. Then the
 * prefixes of common words. `terms`: number of terms including repetitions.
 */
export function tokensOf(passage: TokenSource): { readonly tokens: readonly string[]; readonly terms: number } {
  const { label, text } = passage
  const { counts, length: terms } = countTerms(text)
  const all = new Map(counts)
  if (label !== undefined)
    for (const term of countTerms(label).counts.keys()) all.set(term, (all.get(term) ?? 0) + LABEL_COUNT)
  const tokens = [...all].flatMap(([term, count]) => {
    const token = tokenOf(term)
    return [token, ...(count > 1 ? [TWICE + token] : []), ...(count > 3 ? [OFTEN + token] : [])]
  })
  return { tokens: [...tokens, ...[...stopPrefixes(text)].map(prefixToken)], terms }
}

/** A passage in the form in which a store saves it. */
export function toNewPassage(passage: Passage): NewPassage {
  const { kind, isDialogue, time, text } = passage
  return { ...passage, ...tokensOf(passage), facts: packFacts(kind, isDialogue, text), time: Date.parse(time) }
}

/** A passage from a stored row. */
export function passageFrom({ uuid, blocks, facts, label, time, start, length, text }: StoredPassage): Passage {
  return {
    ...{ uuid, blocks, kind: kindIn(facts), isDialogue: isDialogueIn(facts) },
    ...(label === undefined ? {} : { label }),
    ...{ time: Number.isNaN(time) ? "" : new Date(time).toISOString(), start, length, text },
  }
}

/** Packs the kind and two bits into one number. */
const packFacts = (kind: Passage["kind"], isDialogue: boolean, text: string): number =>
  4 * KINDS.indexOf(kind) + 2 * Number(isDialogue) + Number(/[?？]/.test(text))

export const kindIn = (facts: number): Passage["kind"] => KINDS[facts >> 2]!
export const isDialogueIn = (facts: number): boolean => (facts & 2) > 0
export const isQuestionIn = (facts: number): boolean => (facts & 1) > 0
