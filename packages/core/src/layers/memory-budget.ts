/**
 * Cost of the conversations that share a memory, and of their memory work (extractions and dreams). Decides whether another unit of that
 * work may begin, for all callers and processes, in one change of one small file: no two of them spend the same money, and no two
 * extractions examine the same messages.
 *
 * The file also lists conversations that wait for an extraction. It contains addresses and counts, never text.
 */

import type { MemoryFiles } from "../journal/memory-files.ts"
import { updateText } from "../journal/memory-files.ts"
import type { JournalAddress } from "../journal/store.ts"
import { type BudgetVerdict, checkBudgetShare } from "./budget.ts"

const FILE = ".waiting.json"
const MAX_CONVERSATIONS = 300 // the newest: about 50 KB
const MAX_WORK_MS = 10 * 60_000 // work that is older was killed
const EARLIER_TOKENS = 100 // of a message, where it was not counted
const GROWTH = 1.5 // sums are written again when they have grown so much

/** Kinds of memory work. Only one of each kind runs at a time. */
export type MemoryWork = "extraction" | "dream"

export interface ConversationSpending extends Pick<JournalAddress, "project" | "id"> {
  /** Dollars, including memory work. */
  readonly spent: number
  /** Dollars of memory work. */
  readonly memory: number
}

/** Current message counts of a conversation. On disk under these names. */
export interface ConversationCounts {
  /** Number of user messages that the conversation's own extractions have examined. */
  readonly from: number
  /** Number of user messages. */
  readonly said: number
  /** Tokens worth examining from a message on; 0 if nothing is worth it. */
  readonly tokensFrom: (from: number) => number
}

export type CountedConversation = ConversationSpending & ConversationCounts

export interface WaitingConversation extends ConversationSpending, Omit<ConversationCounts, "tokensFrom"> {
  /** Number of messages that extractions of other conversations have examined. */
  readonly looked: number
  /** Tokens that wait to be examined. By now there may be more. */
  readonly tokens: number
}

export interface MemoryWorkRequest {
  readonly work: MemoryWork
  /** The conversation that asks. A dream provides no message counts. */
  readonly own: ConversationSpending & Partial<ConversationCounts>
  /** Maximum percent of the cost of all conversations. */
  readonly limit: number
  /** Expected cost of the work in dollars. `waiting`: other waiting conversations, oldest first. */
  readonly expected: (waiting: readonly WaitingConversation[]) => number | Promise<number>
  readonly now: Date
}

export type MemoryWorkAdmission =
  | MemoryWorkReservation
  /** No messages wait to be examined. */
  | { readonly state: "nothing" }
  /** Another conversation is doing the same work now. */
  | { readonly state: "busy" }
  | ({ readonly state: "wait" } & Extract<BudgetVerdict, { allowed: false }>)

export interface MemoryWorkReservation {
  readonly state: "taken"
  /** Index of the first user message that no extraction has examined. */
  readonly from: number
  /** Dollars that are reserved until the work is settled. */
  readonly expected: number
  /** Other waiting conversations, oldest first. */
  readonly waiting: readonly WaitingConversation[]
  /** Records the actual cost and the examined messages. If this fails, the reservation stays and the conversations keep waiting. */
  readonly settle: (dollars: number, looked?: readonly ExaminedConversation[]) => Promise<void>
}

export interface ExaminedConversation extends Pick<JournalAddress, "id"> {
  /** Number of user messages that were examined. */
  readonly messageCount: number
  /** Tokens that still wait. */
  readonly remainingTokens: number
}

export interface MemoryBudget {
  /** Reserves the expected cost if the work may begin. A killed process leaves the reservation counted. */
  take(order: MemoryWorkRequest): Promise<MemoryWorkAdmission>
  /** Records the current counts of a conversation. */
  note(own: CountedConversation): Promise<void>
}

interface RunningMemoryWork {
  readonly by: string
  readonly work: MemoryWork
  readonly at: string
  readonly dollars: number
}

interface BudgetState {
  /** Ordered by their last update, the most recent last. */
  readonly conversations: readonly WaitingConversation[]
  readonly underWay: readonly RunningMemoryWork[]
}

export function memoryBudget(files: Pick<MemoryFiles, "read" | "install">): MemoryBudget {
  const change = (to: (state: BudgetState) => BudgetState): Promise<void> =>
    updateText(files, FILE, (text) => {
      const state = parseState(text)
      const after = to(state)
      return after === state ? undefined : `${JSON.stringify(after)}\n`
    })
  const note = (own: MemoryWorkRequest["own"]) => change((state) => withConversation(state, own))

  async function settle(
    one: RunningMemoryWork,
    dollars: number,
    looked: readonly ExaminedConversation[],
  ): Promise<void> {
    await change(({ conversations, underWay }) => {
      const rest = underWay.filter((each) => !isSame(each, one))
      // work that took too long was charged like work that was killed
      const due = dollars - (rest.length === underWay.length ? one.dollars : 0)
      const settled = conversations.map((each) => withExamined(each, { looked, by: one.by }))
      return { conversations: settled.map((each) => (each.id === one.by ? charged(each, due) : each)), underWay: rest }
    }).catch(() => undefined)
  }

  return {
    note,
    async take({ work, own, limit, expected, now }) {
      const known = withConversation(parseState(await files.read(FILE)), own)
      if (work === "extraction" && known.conversations.every(({ tokens }) => tokens === 0)) {
        await note(own).catch(() => undefined) // nothing is lost: the sum is written with the next one
        return { state: "nothing" }
      }
      const dollars = await expected(othersIn(known, own.id))
      const started: RunningMemoryWork = { by: own.id, work, at: now.toISOString(), dollars }
      let answer: MemoryWorkAdmission = { state: "nothing" }
      await change((before) => {
        const state = withConversation(withoutKilled(before, started), own)
        answer = admit(state, { started, limit, settle })
        return answer.state === "taken" ? { ...state, underWay: [...state.underWay, started] } : state
      })
      return answer
    },
  }
}

interface AdmissionInput {
  readonly started: RunningMemoryWork
  readonly limit: number
  readonly settle: (one: RunningMemoryWork, dollars: number, looked: readonly ExaminedConversation[]) => Promise<void>
}

function admit(state: BudgetState, { started, limit, settle }: AdmissionInput): MemoryWorkAdmission {
  const { by, work, dollars: nextCost } = started
  const { conversations, underWay } = state
  if (underWay.some((one) => one.work === work)) return { state: "busy" }
  const waiting = othersIn(state, by)
  const own = conversations.find(({ id }) => id === by)
  if (work === "extraction" && waiting.length === 0 && !own?.tokens) return { state: "nothing" }
  const begun = sumOf(underWay, ({ dollars }) => dollars)
  const budget = checkBudgetShare({
    total: sumOf(conversations, ({ spent }) => spent) + begun,
    own: sumOf(conversations, ({ memory }) => memory) + begun,
    ...{ nextCost, limit },
  })
  if (!budget.allowed) return { state: "wait", ...budget }
  return {
    ...{ state: "taken", waiting, expected: nextCost },
    from: own ? firstUnexamined(own) : 0,
    settle: (dollars, looked = []) => settle(started, dollars, looked),
  }
}

const othersIn = ({ conversations }: BudgetState, id: string) =>
  conversations.filter((one) => one.id !== id && one.tokens > 0)

/** Index of the first user message that no extraction has examined. */
export const firstUnexamined = ({ from, looked }: Pick<WaitingConversation, "from" | "looked">): number =>
  Math.max(from, looked)

const isSame = (a: RunningMemoryWork, b: RunningMemoryWork) => a.by === b.by && a.work === b.work && a.at === b.at

/**
 * Adds or updates a conversation. Returns the same state if it is still accurate enough: recorded costs may be too low, but never too high.
 */
function withConversation(state: BudgetState, own: MemoryWorkRequest["own"]): BudgetState {
  const { project, id } = own
  const before = state.conversations.find((one) => one.id === id)
  const after: WaitingConversation = {
    ...{ project, id, ...currentCounts(own, before) },
    // what was counted for work that was killed stays counted
    spent: Math.max(own.spent, before?.spent ?? 0),
    memory: Math.max(own.memory, before?.memory ?? 0),
  }
  if (before && !isWorthWriting(before, after)) return state
  const others = state.conversations.filter((one) => one !== before)
  return { ...state, conversations: limitConversations([...others, after]) }
}

const NO_MESSAGES = { from: 0, looked: 0, said: 0, tokens: 0 }

function currentCounts({ from, said, tokensFrom }: MemoryWorkRequest["own"], before: WaitingConversation | undefined) {
  if (from === undefined || said === undefined || !tokensFrom) {
    const state = before ?? NO_MESSAGES
    return { from: state.from, looked: state.looked, said: state.said, tokens: state.tokens }
  }
  // messages that were undone count again when they are repeated
  const looked = before && before.looked <= said ? before.looked : 0
  const next = firstUnexamined({ from, looked })
  return { from, looked, said, tokens: said > next ? tokensFrom(next) : 0 }
}

const isWorthWriting = (before: WaitingConversation, after: WaitingConversation): boolean =>
  before.from !== after.from ||
  before.looked !== after.looked ||
  before.memory !== after.memory ||
  (before.tokens === 0) !== (after.tokens === 0) ||
  after.tokens > GROWTH * before.tokens ||
  after.spent > GROWTH * before.spent

/** Drops a conversation if there are too many, preferably one that does not wait. */
function limitConversations(conversations: readonly WaitingConversation[]): readonly WaitingConversation[] {
  if (conversations.length <= MAX_CONVERSATIONS) return conversations
  const oldest = conversations.find(({ tokens }) => tokens === 0) ?? conversations[0]
  return conversations.filter((one) => one !== oldest)
}

/** Removes work of killed processes. Its reservation stays counted. */
function withoutKilled(state: BudgetState, { by, work, at }: RunningMemoryWork): BudgetState {
  const isKilled = (one: RunningMemoryWork) =>
    (one.by === by && one.work === work) || Math.abs(Date.parse(at) - Date.parse(one.at)) >= MAX_WORK_MS
  const killed = state.underWay.filter(isKilled)
  if (killed.length === 0) return state
  const dollarsBy = (id: string) =>
    sumOf(
      killed.filter((one) => one.by === id),
      ({ dollars }) => dollars,
    )
  return {
    conversations: state.conversations.map((one) => charged(one, dollarsBy(one.id))),
    underWay: state.underWay.filter((one) => !isKilled(one)),
  }
}

const charged = (one: WaitingConversation, dollars: number): WaitingConversation => ({
  ...one,
  spent: Math.max(0, one.spent + dollars),
  memory: Math.max(0, one.memory + dollars),
})

function withExamined(
  one: WaitingConversation,
  { looked, by }: { readonly looked: readonly ExaminedConversation[]; readonly by: string },
): WaitingConversation {
  const found = looked.find(({ id }) => id === one.id)
  if (!found) return one
  const through = one.id === by ? { from: found.messageCount } : { looked: Math.max(one.looked, found.messageCount) }
  return { ...one, ...through, said: Math.max(one.said, found.messageCount), tokens: found.remainingTokens }
}

const sumOf = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((sum, one) => sum + of(one), 0)

/** Parses the file. An unreadable file counts as empty and is replaced by the next update. */
function parseState(text: string | undefined): BudgetState {
  try {
    const { waiting = [], ...state } = JSON.parse(text ?? "{}") as Partial<
      BudgetState & { waiting: readonly EarlierVersionRow[] }
    >
    const { conversations = waiting.map(fromEarlierVersion), underWay = [] } = state
    return { conversations: conversations.filter(isConversation), underWay: underWay.filter(isUnderWay) }
  } catch {
    return { conversations: [], underWay: [] }
  }
}

type EarlierVersionRow = Pick<WaitingConversation, "project" | "id" | "from" | "said">

/** Converts a row of version 0.1.0, which wrote only waiting conversations. */
const fromEarlierVersion = ({ project, id, from, said }: EarlierVersionRow): WaitingConversation => ({
  ...{ project, id, from: 0, looked: from, said, tokens: EARLIER_TOKENS * (said - from), spent: 0, memory: 0 },
})

const isConversation = ({ project, id, ...counts }: WaitingConversation) =>
  isText(project) &&
  isText(id) &&
  [counts.from, counts.said, counts.looked, counts.tokens].every(
    (count) => Number.isSafeInteger(count) && count >= 0,
  ) &&
  [counts.spent, counts.memory].every(isSum)

const isUnderWay = ({ by, work, at, dollars }: RunningMemoryWork) =>
  isText(by) && isText(work) && !Number.isNaN(Date.parse(at)) && isSum(dollars)

const isText = (value: unknown) => typeof value === "string"
const isSum = (value: unknown) => typeof value === "number" && Number.isFinite(value) && value >= 0
