/**
 * Statements of the assistant about the work: decisions with reasons, failures, findings, progress and next steps. Sentences are ranked by
 * content, position and novelty. They are quoted, never written.
 */
import type { CooperativeTask } from "../../base/work.ts"
import { memoize } from "../../base/work.ts"
import { proseSentences, type SentenceKind } from "../../views/record/statements.ts"
import type { TimelineEntry } from "./timeline.ts"

export interface OfflineStatement {
  readonly kind: SentenceKind
  readonly words: string
}

export interface OfflineStatements {
  /** The best sentences of each kind, in the order of the conversation. */
  readonly ranked: readonly OfflineStatement[]
  /** By file name without directory: the newest sentence that mentions it. */
  readonly aboutFiles: ReadonlyMap<string, string>
}

const MAX_OF_A_KIND = 12
const TERM = /\p{L}{4,}|\p{N}{2,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2}/gu
const FILE_NAME = /[\w@-]{1,80}(?:\.[\w-]{1,40})*\.[a-z]\w{0,5}\b/gi

interface RankedStatement extends OfflineStatement {
  readonly at: number
  readonly score: number
}

export function* statementsTask(moments: readonly TimelineEntry[]): CooperativeTask<OfflineStatements> {
  const texts = moments.flatMap((moment, at) => (moment.kind === "assistant" ? [{ ...moment, at }] : []))
  const known = new Set<string>()
  const quoted = new Set<string>()
  const ranked: RankedStatement[] = []
  const aboutFiles = new Map<string, string>()
  let count = 0
  for (const [index, { text, at }] of texts.entries()) {
    const next = moments[at + 1]
    const endsTurn = next === undefined || next.kind === "human"
    const place = (endsTurn ? 1 : 0) + (index + 1) / texts.length
    for (const { text: sentence, kind, weight, names, terms } of readProse(text)) {
      for (const name of names) aboutFiles.set(name, sentence)
      const novelty = newShare(terms, known)
      if (!kind || quoted.has(sentence)) continue
      quoted.add(sentence)
      ranked.push({ kind, words: sentence, at: count++, score: weight + place + novelty })
    }
    yield
  }
  return { ranked: pickBest(ranked), aboutFiles }
}

/** Analyzes a text. The result does not depend on the text's position. */
const readProse = memoize((text) =>
  proseSentences(text).map((sentence) => ({
    ...sentence,
    names: sentence.text.match(FILE_NAME) ?? [],
    terms: sentence.text.toLowerCase().match(TERM) ?? [],
  })),
)

function pickBest(ranked: readonly RankedStatement[]): readonly OfflineStatement[] {
  const kinds = Map.groupBy(ranked, ({ kind }) => kind)
  return [...kinds.values()]

    .flatMap((same) => same.toSorted((a, b) => b.score - a.score || b.at - a.at).slice(0, MAX_OF_A_KIND))
    .sort((a, b) => a.at - b.at)
    .map(({ kind, words }) => ({ kind, words }))
}

/** Share of the terms that occur in no earlier sentence. */
function newShare(terms: readonly string[], known: Set<string>): number {
  let fresh = 0
  for (const term of terms) {
    if (known.has(term)) continue
    known.add(term)
    fresh++
  }
  return terms.length === 0 ? 0 : fresh / terms.length
}
