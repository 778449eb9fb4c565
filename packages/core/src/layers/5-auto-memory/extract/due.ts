/**
 * Whether an extraction should run: enough was said for one, and it may cost what it will cost. A message that only asks for work, or asks
 * something, leaves nothing to keep. The form of its sentences decides: one that states something may matter later.
 */
import { dayOf } from "../../../base/clock.ts"
import type { Budget } from "../../../journal/budget.ts"
import { isEnglishRequest } from "../../../views/record/lasting-rules-english.ts"
import { sentencesIn } from "../../../views/record/sentences.ts"
import { typedLines } from "../../../views/record/typed-text.ts"
import type { Word } from "../../../views/record/words.ts"
import { type BudgetAnswer, backgroundBudget, forkSpent, type Spent } from "../../background-budget.ts"
import { type ShareOfDay, takeShare } from "../../daily-limit.ts"
import { expectedDollars } from "../../dollars-for.ts"
import type { LayerContext } from "../../layer.ts"
import type { Quota } from "../../quota.ts"

const LONG_MESSAGE = 1_500 // characters; who writes this much explains something
const LEAST_WORDS = 4
const LEAST_LETTERS = 6 // in scripts without spaces
const QUESTION = /[?？؟]\W*$/u

/** `most`: after so many messages an extraction runs, whatever they say. */
export function isWorthExtracting(words: readonly Pick<Word, "text">[], most: number): boolean {
  return words.length >= most || words.some(({ text }) => text.length >= LONG_MESSAGE || statesSomething(text))
}

const statesSomething = (text: string) => sentencesIn(typedLines(text).join("\n")).some(isStatement)

const isStatement = (sentence: string) =>
  !QUESTION.test(sentence) && isLongEnough(sentence) && !isEnglishRequest(sentence.trim())

const isLongEnough = (sentence: string) =>
  sentence.trim().split(/\s+/u).length >= LEAST_WORDS ||
  (sentence.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu)?.length ??
    0) >= LEAST_LETTERS

export interface Purses {
  readonly daily: Budget
  readonly quota?: Quota
  /** What an extraction will cost, for the first one. Missing where it costs nothing. */
  readonly expected?: (context: LayerContext) => Spent
}

/** What a fork that asks for memories will cost. */
export const extractionSpent = ({ size, facts }: LayerContext): Spent => forkSpent(size.tokens, facts)

/** `message`: a sentence for the person. A conversation that is only short waits without one. */
type Affordable = ShareOfDay | { readonly state: "wait"; readonly message?: string }

/** `besides`: what other conversations have cost that are looked at as well. */
export async function isAffordable(
  context: LayerContext,
  { daily, quota, expected, besides }: Purses & { readonly besides: readonly Spent[] },
): Promise<Affordable> {
  const { figures } = context.flags
  const first = expected?.(context)
  const budget = backgroundBudget(context.views.ledger, {
    ...{ purpose: "memory", limit: figures["background-share"], besides },
    ...(first ? { first } : {}),
  })
  if (!budget.allowed) return budget.taken > 0 ? { state: "wait", message: waitsForShare(budget) } : { state: "wait" }
  const shortage = quota?.shortage(context.now)
  if (shortage !== undefined)
    return {
      state: "wait",
      message: `Memories wait for a while: ${shortage}. They are written after a later query.`,
    }
  const [limit, day] = [figures["memory-daily-limit"], dayOf(context.now)]
  const share = await takeShare(daily, { limit, day, expected: first ? expectedDollars(first) : 0 })
  return share.state === "taken" ? share : { state: "wait", message: `No memories now: ${share.sentence}` }
}

const waitsForShare = ({ taken, next, limit }: Extract<BudgetAnswer, { allowed: false }>) =>
  `Memories wait: background work has taken ${Math.round(taken)}% of the conversation's cost so far. Another extraction would make it ${Math.round(next)}%, and the limit is ${limit}% (background-share).`
