/** Search without an index, for stores without files: reads a journal from its end, as far as a limit allows, and compares. */
import type { Journal } from "../journal/store.ts"
import type { BlockQuestion, BlocksFound } from "./block-index.ts"
import { passagesOf } from "./block-search.ts"
import { hasTerms, questionTerms } from "./block-terms.ts"
import { BlockReader } from "./block-texts.ts"
import { type Passage, rankBlocks, type WantedTerm } from "./rank-blocks.ts"

/** Characters that one search compares: about 1M tokens. */
const MOST_SCANNED = 4_000_000

export interface Scanned extends BlocksFound {
  /** Older blocks were not compared. */
  readonly isCut: boolean
}

export interface ScannedJournal {
  readonly source: string
  readonly journal: Pick<Journal, "tail" | "before">
}

export async function scanBlocks(journals: AsyncIterable<ScannedJournal>, question: BlockQuestion): Promise<Scanned> {
  const literal = question.text.trim().toLowerCase()
  // a question without words, such as an emoji or an operator, is looked for as it is
  const terms = hasTerms(literal) || literal === "" ? questionTerms(question.text) : [literal]
  const matching: { readonly passage: Passage; readonly has: readonly boolean[] }[] = []
  const documents = terms.map(() => 0)
  let [scanned, count, isCut] = [0, 0, false]
  for await (const { source, journal } of journals) {
    for (let segment = await journal.tail(); ; ) {
      if (scanned > MOST_SCANNED) {
        isCut = true
        break
      }
      const reader = new BlockReader()
      for (const block of segment.entries.flatMap((entry) => reader.take(entry))) {
        for (const passage of passagesOf(block, (text) => text)) {
          scanned += passage.text.length
          count++
          const lower = passage.text.toLowerCase()
          const has = terms.map((term) => lower.includes(term))
          if (!has.includes(true) || !fits(passage, question)) continue
          has.forEach((is, at) => {
            if (is) documents[at]!++
          })
          matching.push({ passage: { ...passage, id: matching.length + 1, source }, has })
        }
      }
      const before = await journal.before(segment)
      if (!before) break
      segment = before
    }
  }
  const wanted = terms.map(
    (term, at): WantedTerm => ({
      term,
      documents: documents[at]!,
      weight: Math.log(1 + (count - documents[at]! + 0.5) / (documents[at]! + 0.5)),
      isSimilar: false,
    }),
  )
  const scores = new Map(
    matching.map(({ passage, has }) => [
      passage.id,
      wanted.reduce((sum, { weight }, at) => sum + (has[at] ? weight : 0), 0),
    ]),
  )
  const { text, limit } = question
  return {
    ...rankBlocks(
      { text, wanted, scores, limit },
      matching.map(({ passage }) => passage),
    ),
    isCut,
  }
}

function fits(passage: Pick<Passage, "kind" | "time">, { kind, since, until }: BlockQuestion): boolean {
  if (kind !== undefined && passage.kind !== kind) return false
  const at = Date.parse(passage.time)
  return !(since && at < since.getTime()) && !(until && at >= until.getTime())
}
