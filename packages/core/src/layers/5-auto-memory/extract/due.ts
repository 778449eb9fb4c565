/**
 * Whether an extraction should run: enough was said for one, and it may cost what it will cost. A message that only asks for work, or asks
 * something, leaves nothing to keep. The form of its sentences decides: one that states something may matter later.
 */
import { dayOf } from "../../../base/clock.ts"
import { NO_TOKENS } from "../../../base/token-counts.ts"
import type { Budget } from "../../../journal/budget.ts"
import { cacheCounts } from "../../../views/cache/cache-break.ts"
import { isEnglishRequest } from "../../../views/record/lasting-rules-english.ts"
import { sentencesIn } from "../../../views/record/sentences.ts"
import { typedLines } from "../../../views/record/typed-text.ts"
import type { Word } from "../../../views/record/words.ts"
import { type BudgetAnswer, memorySpending } from "../../background-budget.ts"
import { takeShare } from "../../daily-limit.ts"
import { expectedDollars } from "../../dollars-for.ts"
import type { LayerContext } from "../../layer.ts"
import type { CountedConversation, MemoryBudget, WaitingConversation, WorkShare } from "../../memory-budget.ts"
import type { Quota } from "../../quota.ts"
import { expectedIn, MAX_SHOWN_MESSAGES, shownTokens } from "./waiting.ts"

const LONG_MESSAGE = 1_500 // characters; who writes this much explains something
const ENOUGH_MESSAGES = 3 // after so many an extraction runs, whatever they say
const LEAST_WORDS = 4
const LEAST_LETTERS = 6 // in scripts without spaces
const QUESTION = /[?？؟]\W*$/u

export function isWorthExtracting(words: readonly Pick<Word, "text">[]): boolean {
  return (
    words.length >= ENOUGH_MESSAGES || words.some(({ text }) => text.length >= LONG_MESSAGE || statesSomething(text))
  )
}

const statesSomething = (text: string) => sentencesIn(typedLines(text).join("\n")).some(isStatement)

const isStatement = (sentence: string) =>
  !QUESTION.test(sentence) && isLongEnough(sentence) && !isEnglishRequest(sentence.trim())

const isLongEnough = (sentence: string) =>
  sentence.trim().split(/\s+/u).length >= LEAST_WORDS ||
  (sentence.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu)?.length ??
    0) >= LEAST_LETTERS

export interface ExtractionBudgets {
  readonly budget: MemoryBudget
  readonly daily: Budget
  readonly quota?: Quota
  /** Requests of a usual extraction. 0 where it costs nothing: a function of the application, or the offline model. */
  readonly requests: number
}

/** `message`: a sentence for the person. A conversation that is only short waits without one. */
type ExtractionShare = WorkShare | { readonly state: "wait"; readonly message?: string }

/** Whether an extraction may run now: something waits for it here or in other conversations, and it may cost what it will cost. */
export async function takeExtraction(
  context: LayerContext,
  { budget, daily, quota, requests, prompt }: ExtractionBudgets & { readonly prompt: () => Promise<number> },
): Promise<ExtractionShare> {
  const { flags, now } = context
  const own = countedIn(context)
  const shortage = quota?.shortage(now)
  if (shortage !== undefined) {
    await budget.note(own)
    const isMissed = own.tokensFrom(own.from) > 0
    return { state: "wait", ...(isMissed ? { message: `Memories wait for a while: ${shortage}. ${LATER}` } : {}) }
  }
  const expected = async (waiting: readonly WaitingConversation[]) => {
    if (requests === 0) return 0
    const others = expectedIn(waiting)
    const messages = Math.min(MAX_SHOWN_MESSAGES, others.messages + own.said - own.from)
    return extractionDollars(context, { prompt: (await prompt()) + others.tokens, messages, requests })
  }
  const share = await budget.take({ work: "extraction", own, limit: flags.figures["background-share"], expected, now })
  if (share.state === "wait" && share.taken > 0) return { state: "wait", message: waitsForShare(share) }
  if (share.state !== "taken") return { state: "wait" }
  const [limit, day] = [flags.figures["memory-daily-limit"], dayOf(now)]
  const today = await takeShare(daily, { limit, day, expected: share.expected }).catch(async (error: unknown) => {
    await share.settle(0)
    throw error
  })
  if (today.state === "taken")
    return {
      ...share,
      settle: async (dollars, looked) => {
        await today.settle(dollars)
        await share.settle(dollars, looked)
      },
    }
  await share.settle(0)
  return { state: "wait", message: `No memories now: ${today.sentence}` }
}

const LATER = "They are written after a later query."

const waitsForShare = ({ taken, next, limit }: Extract<BudgetAnswer, { allowed: false }>) =>
  `Memories wait: memory work has taken ${Math.round(taken)}% of what your conversations here have cost. Another extraction would make it ${Math.round(next)}%, and the limit is ${limit}% (background-share).`

/** The conversation as it is now, for the budget of its memory. */
export function countedIn({ journal, views }: LayerContext): CountedConversation {
  const { messages } = views.words
  const { project, id } = journal.address
  return {
    ...{ project, id, from: views.memories.said, said: messages.length, ...memorySpending(views.ledger) },
    tokensFrom(from) {
      const words = messages.slice(from)
      if (!isWorthExtracting(words)) return 0
      return Math.max(
        1,
        shownTokens(words, (text) => Math.ceil(views.estimator.text(text))),
      )
    },
  }
}

const ANSWER = 500 // tokens
const ANSWER_PER_MESSAGE = 75 // tokens: a short memory

interface ExpectedExtraction {
  /** Tokens that it adds to the conversation. */
  readonly prompt: number
  /** Messages of the person that it looks at. */
  readonly messages: number
  readonly requests: number
}

const USUAL: ExpectedExtraction = { prompt: 1_500, messages: 3, requests: 2 }

/** What a fork that asks for memories will cost. */
export function extractionDollars({ size, views, facts }: LayerContext, expected = USUAL): number {
  const { prompt, messages, requests } = expected
  const usage = views.context.recentResponses(1)[0]?.message.usage
  const { cacheRead, cacheWrite5m, cacheWrite1h } = usage ? cacheCounts(usage) : NO_TOKENS
  const cached = Math.min(size.tokens, cacheRead + cacheWrite5m + cacheWrite1h)
  const answer = ANSWER + ANSWER_PER_MESSAGE * messages
  return expectedDollars({ cached, fresh: size.tokens - cached + prompt, answer, requests }, facts)
}
