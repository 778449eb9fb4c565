/**
 * Decides whether an extraction should run: there is enough to extract, and the budget allows its cost. A message that only asks for work,
 * or asks a question, leaves nothing to save. The form of its sentences decides: a statement may matter later.
 */
import { utcDay } from "../../../base/clock.ts"
import { NO_TOKENS } from "../../../base/text.ts"
import type { DailyBudget, Journal, JournalAddress } from "../../../journal/store.ts"
import { cacheCounts } from "../../../views/cache/pauses.ts"
import { ParentLinks } from "../../../views/path.ts"
import { isEnglishRequest } from "../../../views/record/lasting-rules.ts"
import {
  isTyped,
  splitSentences,
  typedLines,
  type UserMessageText,
  userMessages,
} from "../../../views/record/user-messages.ts"
import {
  type BudgetVerdict,
  expectedDollars,
  memorySpending,
  type RateLimitState,
  reserveDailyBudget,
} from "../../budget.ts"
import type { LayerContext } from "../../layer.ts"
import {
  type CountedConversation,
  type ExaminedConversation,
  firstUnexamined,
  type MemoryBudget,
  type MemoryWorkReservation,
  type WaitingConversation,
} from "../../memory-budget.ts"
import type { UserMessageFrom } from "../save/save.ts"

// Messages of conversations that wait for an extraction. The next extraction for the same memory examines them too. Only addresses are
// stored; the messages are read from their journals.

const MAX_SHOWN_TOKENS = 4_000 // of all of them
export const MAX_SHOWN_MESSAGES = 20 // an answer has at most so many memories
const MAX_SHOWN_CHARACTERS = 1_500 // of one message

type Address = Pick<JournalAddress, "project" | "id">

/** Reads the user's messages of a conversation. Empty if its journal no longer exists. */
export type ReadUserMessages = (address: Address) => Promise<readonly UserMessageText[]>

export function userMessagesReader(open: (address: Address) => Promise<Journal | undefined>): ReadUserMessages {
  return async (address) => {
    const journal = await open(address).catch(() => undefined)
    if (!journal) return []
    try {
      return await userMessagesIn(journal)
    } finally {
      await journal.close()
    }
  }
}

async function userMessagesIn(journal: Journal): Promise<readonly UserMessageText[]> {
  const links = new ParentLinks()
  for await (const entry of journal.entries()) links.add(entry)
  const places = links.placesOn(links.path())
  let state = userMessages.start()
  for await (const entry of journal.entries()) if (places(entry) === "on-path") state = userMessages.apply(state, entry)
  return state.messages
}

/** A message in the form in which the extraction of another conversation sees it: long ones are cut. */
const shownText = ({ text }: Pick<UserMessageText, "text">): string =>
  text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()

/** Tokens of these messages in the prompt of another conversation's extraction. */
export const shownTokens = (messages: readonly UserMessageText[], estimate: (text: string) => number): number =>
  messages.filter(isTyped).reduce((sum, word) => sum + estimate(shownText(word)), 0)

/** Estimates how many waiting messages and tokens an extraction will include at most. */
export function expectedShown(waiting: readonly WaitingConversation[]) {
  let [messages, tokens] = [0, 0]
  for (const one of waiting) {
    if (messages >= MAX_SHOWN_MESSAGES) break
    messages += Math.max(1, one.said - firstUnexamined(one))
    tokens += one.tokens
  }
  return { messages, tokens: Math.min(tokens, MAX_SHOWN_TOKENS) }
}

interface EarlierMessages {
  readonly words: readonly UserMessageFrom[]
  readonly shown: readonly string[]
  readonly looked: readonly ExaminedConversation[]
}

interface EarlierMessagesInput {
  readonly readUserMessages: ReadUserMessages
  readonly estimate: (text: string) => number
}

/** The messages of waiting conversations, oldest first, as far as there is room. The rest keeps waiting. */
export async function earlierMessages(
  waiting: readonly WaitingConversation[],
  { readUserMessages, estimate }: EarlierMessagesInput,
): Promise<EarlierMessages> {
  const found: UserMessageFrom[] = []
  const shown: string[] = []
  const looked: ExaminedConversation[] = []
  let room = MAX_SHOWN_TOKENS
  for (const one of waiting) {
    const from = firstUnexamined(one)
    const unexamined = (await readUserMessages(one)).slice(from)
    let count = 0
    for (const word of unexamined) {
      const text = shownText(word)
      if (isTyped(word)) {
        if (estimate(text) > room || shown.length >= MAX_SHOWN_MESSAGES) break
        room -= estimate(text)
        shown.push(text)
        found.push({ ...word, conversation: one.id })
      }
      count++
    }
    // messages of a journal that no longer exists stop waiting
    const isDone = count === unexamined.length
    looked.push({
      id: one.id,
      messageCount: isDone ? Math.max(one.said, from + count) : from + count,
      remainingTokens: isDone ? 0 : Math.max(1, shownTokens(unexamined.slice(count), estimate)),
    })
    if (!isDone) break
  }
  return { words: found, shown, looked }
}

const LONG_MESSAGE = 1_500 // characters; who writes this much explains something
const ENOUGH_MESSAGES = 3 // after so many an extraction runs, whatever they say
const MIN_WORDS = 4
const MIN_LETTERS = 6 // in scripts without spaces
const QUESTION = /[?？؟]\W*$/u

export function isWorthExtracting(words: readonly Pick<UserMessageText, "text">[]): boolean {
  return (
    words.length >= ENOUGH_MESSAGES || words.some(({ text }) => text.length >= LONG_MESSAGE || statesSomething(text))
  )
}

const statesSomething = (text: string) => splitSentences(typedLines(text).join("\n")).some(isStatement)

const isStatement = (sentence: string) =>
  !QUESTION.test(sentence) && isLongEnough(sentence) && !isEnglishRequest(sentence.trim())

const isLongEnough = (sentence: string) =>
  sentence.trim().split(/\s+/u).length >= MIN_WORDS ||
  (sentence.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu)?.length ??
    0) >= MIN_LETTERS

export interface ExtractionBudgets {
  readonly budget: MemoryBudget
  readonly daily: DailyBudget
  readonly quota?: RateLimitState
  /** Number of requests of a usual extraction. 0 if it costs nothing: a function of the application, or the offline model. */
  readonly requests: number
}

/** `message`: a sentence for the user. Absent if the conversation is only too short. */
type ExtractionReservation = MemoryWorkReservation | { readonly state: "wait"; readonly message?: string }

/** Reserves the budget for an extraction, if something waits for it here or in other conversations and the limits allow it. */
export async function reserveExtraction(
  context: LayerContext,
  { budget, daily, quota, requests, prompt }: ExtractionBudgets & { readonly prompt: () => Promise<number> },
): Promise<ExtractionReservation> {
  const { flags, now } = context
  const own = conversationCounts(context)
  const shortage = quota?.shortage(now)
  if (shortage !== undefined) {
    await budget.note(own)
    const isMissed = own.tokensFrom(own.from) > 0
    return { state: "wait", ...(isMissed ? { message: `Memories wait for a while: ${shortage}. ${LATER}` } : {}) }
  }
  const expected = async (waiting: readonly WaitingConversation[]) => {
    if (requests === 0) return 0
    const others = expectedShown(waiting)
    const messages = Math.min(MAX_SHOWN_MESSAGES, others.messages + own.said - own.from)
    return extractionDollars(context, { prompt: (await prompt()) + others.tokens, messages, requests })
  }
  const share = await budget.take({ work: "extraction", own, limit: flags.figures["background-share"], expected, now })
  if (share.state === "wait" && share.taken > 0) return { state: "wait", message: describeWait(share) }
  if (share.state !== "taken") return { state: "wait" }
  const [limit, day] = [flags.figures["memory-daily-limit"], utcDay(now)]
  const today = await reserveDailyBudget(daily, { limit, day, expected: share.expected }).catch(
    async (error: unknown) => {
      await share.settle(0)
      throw error
    },
  )
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

const describeWait = ({ taken, next, limit }: Extract<BudgetVerdict, { allowed: false }>) =>
  `Memories wait: memory work has taken ${Math.round(taken)}% of what your conversations here have cost. Another extraction would make it ${Math.round(next)}%, and the limit is ${limit}% (background-share).`

/** The current counts of the conversation, for the budget of its memory. */
export function conversationCounts(context: LayerContext): CountedConversation {
  const { journal, views } = context // in declarations, a context has no views
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
  /** Tokens that the prompt adds to the conversation. */
  readonly prompt: number
  /** Number of user messages to examine. */
  readonly messages: number
  readonly requests: number
}

const USUAL: ExpectedExtraction = { prompt: 1_500, messages: 3, requests: 2 }

/** Expected cost of a fork that extracts memories. */
export function extractionDollars(context: LayerContext, expected = USUAL): number {
  const { size, views, facts } = context
  const { prompt, messages, requests } = expected
  const usage = views.context.recentResponses(1)[0]?.message.usage
  const { cacheRead, cacheWrite5m, cacheWrite1h } = usage ? cacheCounts(usage) : NO_TOKENS
  const cached = Math.min(size.tokens, cacheRead + cacheWrite5m + cacheWrite1h)
  const answer = ANSWER + ANSWER_PER_MESSAGE * messages
  return expectedDollars({ cached, uncached: size.tokens - cached + prompt, answer, requests }, facts)
}
