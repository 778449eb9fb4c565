/** What an index lists of a passage: tokens. A term is one, and so is that it is there more often. */
import type { NewPassage, StoredPassage } from "../../journal/passage-store.ts"
import { KINDS, type Passage } from "../passages/passage.ts"
import { countTerms } from "../passages/passage-terms.ts"
import { stopPrefixes } from "../passages/stop-prefixes.ts"

/** Raise it when terms or tokens change, and the version of the tables in SQLite with it. */
export const TOKENS_VERSION = 3

/** A label, such as the title of a memory, says what the text is about. */
const LABEL_COUNT = 2

export const isPlainTerm = (term: string) => /^[a-z0-9]+$/.test(term)

/** SQLite splits text by its own, older Unicode tables. In hex, every term is one word to it. */
export const tokenOf = (term: string) => (isPlainTerm(term) ? term : `u${Buffer.from(term).toString("hex")}`)

// no term has an underscore
export const TWICE = "2_"
export const OFTEN = "4_"
export const PREFIX = "b_"
export const prefixToken = (beginning: string) => PREFIX + beginning

type TokenSource = Pick<Passage, "label" | "text">

/**
 * Each term, and the term once more if it is there at least twice, or at least four times: the index lists passages, and no counts. Then how
 * its common words begin. `terms`: how many it has, with repetitions.
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

/** A passage as a shelf keeps it. */
export function toNewPassage(passage: Passage): NewPassage {
  const { kind, isDialogue, time, text } = passage
  return { ...passage, ...tokensOf(passage), facts: packFacts(kind, isDialogue, text), time: Date.parse(time) }
}

/** A passage as it was. */
export function passageFrom({ uuid, blocks, facts, label, time, start, length, text }: StoredPassage): Passage {
  return {
    ...{ uuid, blocks, kind: kindIn(facts), isDialogue: isDialogueIn(facts) },
    ...(label === undefined ? {} : { label }),
    ...{ time: Number.isNaN(time) ? "" : new Date(time).toISOString(), start, length, text },
  }
}

/** The kind and two bits, in one number. */
const packFacts = (kind: Passage["kind"], isDialogue: boolean, text: string): number =>
  4 * KINDS.indexOf(kind) + 2 * Number(isDialogue) + Number(/[?？]/.test(text))

export const kindIn = (facts: number): Passage["kind"] => KINDS[facts >> 2]!
export const isDialogueIn = (facts: number): boolean => (facts & 2) > 0
export const isQuestionIn = (facts: number): boolean => (facts & 1) > 0
