/** Asks questions about dialogues and counts how often the evidence is among the first results. */
import { PassageIndex } from "../../../packages/core/src/recall/index/passage-index.ts"
import type { Passage } from "../../../packages/core/src/recall/passages/passage.ts"
import { countTerms, questionTerms } from "../../../packages/core/src/recall/passages/passage-terms.ts"
import { type AskedQuestion, type Dialogue, makeDialogue, type QuestionKind } from "./dialogues.ts"
import { type Answer, type OpenSearchEntry, writtenAs } from "./search-entries.ts"

/** Parameters of classic BM25 over lower-case words, for comparison. */
const K1 = 1.2
const B = 0.75

const lowerCaseWords = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** Searches with BM25: returns the positions of the texts that share a word with the question, best first. */
export function plainBm25(texts: readonly string[], wordsOf = lowerCaseWords): (question: string) => readonly number[] {
  const postings = new Map<string, Map<number, number>>()
  const lengths = texts.map((text, at) => {
    const words = wordsOf(text)
    for (const word of words) {
      const counts = postings.get(word) ?? new Map<number, number>()
      counts.set(at, (counts.get(at) ?? 0) + 1)
      postings.set(word, counts)
    }
    return words.length
  })
  const average = lengths.reduce((total, length) => total + length, 0) / lengths.length
  return (question) => {
    const scores = new Map<number, number>()
    for (const word of wordsOf(question)) {
      const counts = postings.get(word) ?? new Map<number, number>()
      const rarity = Math.log(1 + (texts.length - counts.size + 0.5) / (counts.size + 0.5))
      for (const [at, count] of counts) {
        const part = (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * lengths[at]!) / average))
        scores.set(at, (scores.get(at) ?? 0) + part)
      }
    }
    return [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([at]) => at)
  }
}

const ANSWERS = 60
export const ANSWERABLE = [
  "direct",
  "time",
  "two-hop",
  "who",
  "changed",
  "several",
  "rule",
  "answer",
  "preference",
  "contradiction",
  "summary",
  "order",
] as const
export const UNANSWERABLE = ["unrelated", "unrelated-two-hop", "never-said", "said-of-another"] as const

/** Passages as journals store them: one speaker is the user, the other one the assistant. */
function passagesOf({ turns }: Dialogue, prefix = ""): ReadonlyMap<string, readonly Passage[]> {
  const first = turns[0]!.speaker
  const passages = turns.map(({ session, speaker, text, time }, position) => {
    const line = `${speaker}: ${text}`
    const kind = speaker === first ? ("user" as const) : ("assistant" as const)
    const place = { uuid: `${position}`, blocks: "0", kind, isDialogue: true, start: 0, length: line.length }
    return { source: `${prefix}${session}`, passage: { ...place, time, text: line } }
  })
  const grouped = [...Map.groupBy(passages, ({ source }) => source)]
  return new Map(grouped.map(([source, all]) => [source, all.map(({ passage }) => passage)]))
}

const CROWD_SEED = 9_000
const CROWD = "crowd-"

/**
 * Builds an index full of other dialogues, in which each dialogue is searched in turn. They share no person and no kind of fact with it.
 */
export function makeCrowd(dialogues: number): {
  readonly turns: number
  readonly entry: OpenSearchEntry
  readonly close: () => void
} {
  const index = new PassageIndex(":memory:")
  let size = 0
  for (let at = 0; at < dialogues; at++) {
    const dialogue = makeDialogue({ seed: CROWD_SEED + at, about: at % 2 ? "project" : "everyday", part: "chosen" })
    index.replace(passagesOf(dialogue, `${CROWD}${at}-`))
    size += dialogue.turns.length
  }
  return {
    turns: size,
    entry: async (dialogue) => {
      index.replace(passagesOf(dialogue))
      return {
        async search(text) {
          const { found, isFitting } = index.search({ text, now: dialogue.now, limit: ANSWERS })
          const answers = found.map(({ uuid, source }) => ({
            at: source.startsWith(CROWD) ? undefined : Number(uuid),
            session: source,
          }))
          return { answers, isFitting, text: "" }
        },
        close: async () => {
          for (const { session } of dialogue.turns) index.remove(`${session}`)
        },
      }
    },
    close: () => index.close(),
  }
}

/** Searches the same turns with plain BM25. */
export const plain: OpenSearchEntry = async (dialogue) => {
  const search = plainBm25(dialogue.turns.map((turn) => writtenAs(dialogue, turn)))
  const answer = (at: number) => ({ at, session: `${dialogue.turns[at]!.session}` })
  return {
    search: async (text) => ({ answers: search(text).slice(0, ANSWERS).map(answer), isFitting: true, text: "" }),
    close: async () => undefined,
  }
}

/** Share of turns above which a word is too common to be distinctive. */
const COMMON = 0.02

/** Questions whose evidence has none of their distinctive words. Only the turns around it can lead to the evidence. */
export function paraphrased({ turns, questions }: Dialogue): readonly AskedQuestion[] {
  const terms = turns.map(({ text }) => countTerms(text).counts)
  const isEvidence = (term: string) => terms.filter((has) => has.has(term)).length < COMMON * turns.length
  return questions.filter(
    ({ kind, text, evidence }) =>
      (ANSWERABLE as readonly QuestionKind[]).includes(kind) &&
      !questionTerms(text).some(({ term }) => evidence.some((at) => terms[at]!.has(term)) && isEvidence(term)),
  )
}

/** Questions that share no word with their evidence and the previous turn. Finding it requires knowledge of what words mean. */
export function withoutSharedWord({ turns, questions }: Dialogue): readonly AskedQuestion[] {
  const near = (at: number) => (turns[at - 1]?.session === turns[at]!.session ? [at - 1, at] : [at])
  const isShared = ({ text, evidence }: AskedQuestion) => {
    const has = new Set(evidence.flatMap(near).flatMap((at) => [...countTerms(turns[at]!.text).counts.keys()]))
    return questionTerms(text).some(({ term }) => has.has(term))
  }
  return questions.filter((question) => question.evidence.length > 0 && !isShared(question))
}

/** Shares of the questions, from 0 to 1. */
export interface Figures {
  readonly count: number
  /** Share of questions whose first result is evidence. The next two are for the first 5 and the first 10 results. */
  readonly turn1: number
  readonly turn5: number
  readonly turn10: number
  /** The same shares for the sessions of the results, each counted once in their order. */
  readonly session1: number
  readonly session5: number
  /** Share of questions whose rendered text contains all evidence, of those with evidence among the first ten results. */
  readonly whole: number
  /** Share of questions for which automatic recall would attach nothing. */
  readonly unfitting: number
  /** Questions whose session is not among the first five. */
  readonly missed: readonly AskedQuestion[]
}

export async function measure(
  dialogues: readonly Dialogue[],
  open: OpenSearchEntry,
  kinds: readonly QuestionKind[] = ANSWERABLE,
): Promise<Figures> {
  const totals = { turn1: 0, turn5: 0, turn10: 0, session1: 0, session5: 0, whole: 0, unfitting: 0 }
  const missed: AskedQuestion[] = []
  let count = 0
  for (const dialogue of dialogues) {
    const entry = await open(dialogue)
    for (const asked of dialogue.questions) {
      const { kind, text: question, evidence } = asked
      if (!kinds.includes(kind)) continue
      const { answers, text, isFitting } = await entry.search(question)
      const right = new Set(evidence.map((at) => `${dialogue.turns[at]!.session}`))
      const isEvidence = ({ at }: Answer) => at !== undefined && evidence.includes(at)
      const sessions = [...new Set(answers.map(({ session }) => session))]
      const hit = answers.slice(0, 10).find(isEvidence)
      count++
      totals.turn1 += Number(answers[0] !== undefined && isEvidence(answers[0]))
      totals.session1 += Number(sessions[0] !== undefined && right.has(sessions[0]))
      totals.turn5 += Number(answers.slice(0, 5).some(isEvidence))
      totals.turn10 += Number(hit !== undefined)
      const isNear = sessions.slice(0, 5).some((session) => right.has(session))
      totals.session5 += Number(isNear)
      if (!isNear) missed.push(asked)
      totals.unfitting += Number(!isFitting)
      if (hit) totals.whole += Number(text.includes(writtenAs(dialogue, dialogue.turns[hit.at!]!).trim()))
    }
    await entry.close()
  }
  const { turn1, turn5, turn10, session1, session5, whole, unfitting } = totals
  return {
    ...{ count, missed },
    turn1: turn1 / count,
    turn5: turn5 / count,
    turn10: turn10 / count,
    session1: session1 / count,
    session5: session5 / count,
    whole: whole / turn10,
    unfitting: unfitting / count,
  }
}
