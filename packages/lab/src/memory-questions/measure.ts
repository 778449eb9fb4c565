/** Asks questions about dialogues and counts how often the evidence is among the first answers. */
import { type Passage, PassageIndex, type Question, termsOf } from "@strata/core/internal"
import { type AskedQuestion, type Dialogue, makeDialogue, type QuestionKind } from "./dialogues.ts"
import { plainBm25 } from "./plain-bm25.ts"

export interface Answer {
  /** The position of a turn in the dialogue. `undefined`: a turn of another dialogue. */
  readonly at: number | undefined
  readonly session: string
}

/** Answers with turns, the best first. */
export type Search = (question: AskedQuestion) => readonly Answer[]
export type Searcher = (dialogue: Dialogue) => { readonly search: Search; readonly close: () => void }

const ANSWERS = 60
export const ANSWERABLE = ["direct", "time", "two-hop"] as const
export const UNANSWERABLE = ["unrelated", "unrelated-two-hop", "never-said", "said-of-another"] as const

export const ours =
  (weights: Question["weights"] = {}): Searcher =>
  ({ turns, now }) => {
    const index = new PassageIndex(":memory:")
    index.replace(passagesOf(turns))
    return {
      search: ({ text }) =>
        index
          .search({ text, now, limit: ANSWERS, weights })
          .found.map(({ uuid, source }) => ({ at: Number(uuid), session: source })),
      close: () => index.close(),
    }
  }

/** As journals have them: one person is the user, the other one answers. */
function passagesOf(turns: Dialogue["turns"], prefix = ""): ReadonlyMap<string, readonly Passage[]> {
  const first = turns[0]!.speaker
  const passages = turns.map(({ session, speaker, text, time }, position) => {
    const said = `${speaker}: ${text}`
    const place = {
      uuid: `${position}`,
      blocks: "0",
      kind: speaker === first ? "user" : "assistant",
      isSaid: true,
    } as const
    return { source: `${prefix}${session}`, passage: { ...place, time, start: 0, length: said.length, text: said } }
  })
  const grouped = [...Map.groupBy(passages, ({ source }) => source)]
  return new Map(grouped.map(([source, all]) => [source, all.map(({ passage }) => passage)]))
}

const CROWD_SEED = 9_000
const CROWD = "crowd-"

/** An index full of other dialogues, in which each dialogue is searched in its turn. They share no person and no kind of fact with it. */
export function makeCrowd(dialogues: number): {
  readonly turns: number
  readonly search: Searcher
  readonly close: () => void
} {
  const index = new PassageIndex(":memory:")
  let size = 0
  for (let at = 0; at < dialogues; at++) {
    const { turns } = makeDialogue({ seed: CROWD_SEED + at, about: at % 2 ? "project" : "everyday", part: "chosen" })
    index.replace(passagesOf(turns, `${CROWD}${at}-`))
    size += turns.length
  }
  return {
    turns: size,
    search: ({ turns, now }) => {
      index.replace(passagesOf(turns))
      return {
        search: ({ text }) =>
          index.search({ text, now, limit: ANSWERS }).found.map(({ uuid, source }) => ({
            at: source.startsWith(CROWD) ? undefined : Number(uuid),
            session: source,
          })),
        close: () => {
          for (const { session } of turns) index.remove(`${session}`)
        },
      }
    },
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
    const answer = (at: number) => ({ at, session: `${turns[at]!.session}` })
    return { search: ({ text }) => search(text).slice(0, ANSWERS).map(answer), close: () => {} }
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
  /** Of the facts that were said twice: how often the newer one comes first. */
  readonly newerFirst: number
}

export function measure(
  dialogues: readonly Dialogue[],
  searcher: Searcher,
  kinds: readonly QuestionKind[] = ANSWERABLE,
): Figures {
  const totals = { turn5: 0, turn10: 0, session5: 0, session10: 0, noAnswer: 0, saidTwice: 0, newerFirst: 0 }
  let count = 0
  for (const dialogue of dialogues) {
    const { search, close } = searcher(dialogue)
    for (const question of dialogue.questions.filter(({ kind }) => kinds.includes(kind))) {
      const { kind, evidence } = question
      const found = search(question)
      const right = new Set(evidence.map((at) => `${dialogue.turns[at]!.session}`))
      const isEvidence = ({ at }: Answer) => at !== undefined && evidence.includes(at)
      const sessions = [...new Set(found.map(({ session }) => session))]
      const sessionAmong = (first: number) => sessions.slice(0, first).some((session) => right.has(session))
      count++
      totals.turn5 += Number(found.slice(0, 5).some(isEvidence))
      totals.turn10 += Number(found.slice(0, 10).some(isEvidence))
      totals.session5 += Number(sessionAmong(5))
      totals.session10 += Number(sessionAmong(10))
      totals.noAnswer += Number(found.length === 0)
      if (kind !== "direct" || evidence.length < 2) continue
      totals.saidTwice++
      totals.newerFirst += Number(found.find(isEvidence)?.at === Math.max(...evidence))
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
    newerFirst: totals.newerFirst / totals.saidTwice,
  }
}
