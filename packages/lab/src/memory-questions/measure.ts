/** Asks questions about dialogues and counts how often the evidence is among the first answers. */
import { type Question, TextIndex, termsOf } from "@strata/core/internal"
import type { AskedQuestion, Dialogue, QuestionKind } from "./dialogues.ts"
import { plainBm25 } from "./plain-bm25.ts"

/** Answers with positions of turns, the best first. */
export type Search = (question: AskedQuestion) => readonly number[]
export type Searcher = (dialogue: Dialogue) => { readonly search: Search; readonly close: () => void }

const ANSWERS = 60
export const ANSWERABLE = ["direct", "time", "two-hop"] as const
export const UNANSWERABLE = ["unrelated", "never-said", "said-of-another"] as const

export const ours =
  (weights: Question["weights"] = {}): Searcher =>
  ({ turns, now }) => {
    const index = new TextIndex(":memory:")
    index.add(
      turns.map(({ session, speaker, text, time }, position) => ({
        source: `${session}`,
        position,
        speaker,
        text,
        time,
      })),
    )
    return {
      search: ({ text }) => index.search({ text, now, limit: ANSWERS, weights }).map(({ passage }) => passage.position),
      close: () => index.close(),
    }
  }

const plainOver =
  (wordsOf?: (text: string) => readonly string[]): Searcher =>
  ({ turns }) => {
    const search = plainBm25(
      turns.map(({ speaker, text }) => `${speaker}: ${text}`),
      wordsOf,
    )
    return { search: ({ text }) => search(text).slice(0, ANSWERS), close: () => {} }
  }

export const plain = plainOver()
/** Plain BM25 with our stems, identifier parts and without common words. */
export const plainOverTerms = plainOver((text) => termsOf(text).map(({ stem }) => stem))

/** Shares of the answerable questions, from 0 to 1. */
export interface Figures {
  readonly count: number
  readonly turn5: number
  readonly turn10: number
  readonly session5: number
  readonly session10: number
  readonly noAnswer: number
}

export function measure(
  dialogues: readonly Dialogue[],
  searcher: Searcher,
  kinds: readonly QuestionKind[] = ANSWERABLE,
): Figures {
  const totals = { turn5: 0, turn10: 0, session5: 0, session10: 0, noAnswer: 0 }
  let count = 0
  for (const dialogue of dialogues) {
    const { search, close } = searcher(dialogue)
    const sessionOf = (at: number) => dialogue.turns[at]!.session
    for (const question of dialogue.questions.filter(({ kind }) => kinds.includes(kind))) {
      const found = search(question)
      const right = new Set(question.evidence.map(sessionOf))
      const turnAmong = (first: number) => found.slice(0, first).some((at) => question.evidence.includes(at))
      const sessions = [...new Set(found.map(sessionOf))]
      const sessionAmong = (first: number) => sessions.slice(0, first).some((session) => right.has(session))
      count++
      totals.turn5 += Number(turnAmong(5))
      totals.turn10 += Number(turnAmong(10))
      totals.session5 += Number(sessionAmong(5))
      totals.session10 += Number(sessionAmong(10))
      totals.noAnswer += Number(found.length === 0)
    }
    close()
  }
  const share = (total: number) => total / count
  return {
    count,
    turn5: share(totals.turn5),
    turn10: share(totals.turn10),
    session5: share(totals.session5),
    session10: share(totals.session10),
    noAnswer: share(totals.noAnswer),
  }
}
