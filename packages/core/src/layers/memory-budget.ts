/**
 * What the conversations of one memory have cost, and what memory work (extractions and dreams) has taken of it. Whether another piece of
 * that work may begin is decided here, for all callers and all processes, in one change of one small file: no two of them spend the same
 * money, and no two extractions look at the same messages.
 *
 * The file also says which conversations wait for an extraction. It has addresses and counts, never what was said.
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

/** Memory work that is one at a time. */
export type MemoryWork = "extraction" | "dream"

export interface ConversationSpending extends Pick<JournalAddress, "project" | "id"> {
  /** Dollars, memory work included. */
  readonly spent: number
  /** Dollars of its memory work. */
  readonly memory: number
}

/** What was said in a conversation, as it is now. */
export interface ConversationCounts {
  /** How many messages of the person its own extractions have looked at. */
  readonly from: number
  /** How many there are. */
  readonly said: number
  /** Tokens of what is worth looking at from a message on; 0 where nothing is. */
  readonly tokensFrom: (from: number) => number
}

export type CountedConversation = ConversationSpending & ConversationCounts

export interface WaitingConversation extends ConversationSpending, Omit<ConversationCounts, "tokensFrom"> {
  /** Up to which message the extractions of other conversations have looked. */
  readonly looked: number
  /** Tokens that wait to be looked at. There may be more by now. */
  readonly tokens: number
}

export interface MemoryWorkRequest {
  readonly work: MemoryWork
  /** A dream does not say what was said. */
  readonly own: ConversationSpending & Partial<ConversationCounts>
  /** Percent of what all conversations cost. */
  readonly limit: number
  /** What the work will cost, in dollars. `waiting`: other conversations that wait, the oldest first. */
  readonly expected: (waiting: readonly WaitingConversation[]) => number | Promise<number>
  readonly now: Date
}

export type MemoryWorkAdmission =
  | MemoryWorkReservation
  /** Nothing waits to be looked at. */
  | { readonly state: "nothing" }
  /** Another conversation does the same work now. */
  | { readonly state: "busy" }
  | ({ readonly state: "wait" } & Extract<BudgetVerdict, { allowed: false }>)

export interface MemoryWorkReservation {
  readonly state: "taken"
  /** The first message of the person that no one has looked at. */
  readonly from: number
  /** Dollars that are counted until the work is settled. */
  readonly expected: number
  /** Other conversations that wait, the oldest first. */
  readonly waiting: readonly WaitingConversation[]
  /** Counts what the work did cost, and what was looked at. If this fails, the expected sum stays and the conversations go on waiting. */
  readonly settle: (dollars: number, looked?: readonly ExaminedConversation[]) => Promise<void>
}

export interface ExaminedConversation extends Pick<JournalAddress, "id"> {
  /** Up to which message of the person. */
  readonly messageCount: number
  /** Tokens that still wait. */
  readonly remainingTokens: number
}

export interface MemoryBudget {
  /** Whether this work may begin. If so, its expected cost counts at once. A killed process leaves it counted. */
  take(order: MemoryWorkRequest): Promise<MemoryWorkAdmission>
  /** Counts a conversation as it is now. */
  note(own: CountedConversation): Promise<void>
}

interface RunningMemoryWork {
  readonly by: string
  readonly work: MemoryWork
  readonly at: string
  readonly dollars: number
}

interface BudgetState {
  /** The one that was noted last is the last. */
  readonly conversations: readonly WaitingConversation[]
  readonly underWay: readonly RunningMemoryWork[]
}

export function memoryBudget(files: Pick<MemoryFiles, "read" | "install">): MemoryBudget {
  const change = (to: (kept: BudgetState) => BudgetState): Promise<void> =>
    updateText(files, FILE, (text) => {
      const kept = parseState(text)
      const after = to(kept)
      return after === kept ? undefined : `${JSON.stringify(after)}\n`
    })
  const note = (own: MemoryWorkRequest["own"]) => change((kept) => withConversation(kept, own))

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
        const kept = withConversation(withoutKilled(before, started), own)
        answer = admit(kept, { started, limit, settle })
        return answer.state === "taken" ? { ...kept, underWay: [...kept.underWay, started] } : kept
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

function admit(kept: BudgetState, { started, limit, settle }: AdmissionInput): MemoryWorkAdmission {
  const { by, work, dollars: nextCost } = started
  const { conversations, underWay } = kept
  if (underWay.some((one) => one.work === work)) return { state: "busy" }
  const waiting = othersIn(kept, by)
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

/** The first message of the person that no one has looked at. */
export const firstUnexamined = ({ from, looked }: Pick<WaitingConversation, "from" | "looked">): number =>
  Math.max(from, looked)

const isSame = (a: RunningMemoryWork, b: RunningMemoryWork) => a.by === b.by && a.work === b.work && a.at === b.at

/** Nothing changes where what is kept still says enough: the money may be less than it is, and never more. */
function withConversation(kept: BudgetState, own: MemoryWorkRequest["own"]): BudgetState {
  const { project, id } = own
  const before = kept.conversations.find((one) => one.id === id)
  const after: WaitingConversation = {
    ...{ project, id, ...currentCounts(own, before) },
    // what was counted for work that was killed stays counted
    spent: Math.max(own.spent, before?.spent ?? 0),
    memory: Math.max(own.memory, before?.memory ?? 0),
  }
  if (before && !isWorthWriting(before, after)) return kept
  const others = kept.conversations.filter((one) => one !== before)
  return { ...kept, conversations: limitConversations([...others, after]) }
}

const NO_MESSAGES = { from: 0, looked: 0, said: 0, tokens: 0 }

function currentCounts({ from, said, tokensFrom }: MemoryWorkRequest["own"], before: WaitingConversation | undefined) {
  if (from === undefined || said === undefined || !tokensFrom) {
    const kept = before ?? NO_MESSAGES
    return { from: kept.from, looked: kept.looked, said: kept.said, tokens: kept.tokens }
  }
  // messages that were taken back count again when they are repeated
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

/** Those that wait for nothing go first. */
function limitConversations(conversations: readonly WaitingConversation[]): readonly WaitingConversation[] {
  if (conversations.length <= MAX_CONVERSATIONS) return conversations
  const oldest = conversations.find(({ tokens }) => tokens === 0) ?? conversations[0]
  return conversations.filter((one) => one !== oldest)
}

/** Work of a process that was killed is not under way. Its expected cost stays counted. */
function withoutKilled(kept: BudgetState, { by, work, at }: RunningMemoryWork): BudgetState {
  const isKilled = (one: RunningMemoryWork) =>
    (one.by === by && one.work === work) || Math.abs(Date.parse(at) - Date.parse(one.at)) >= MAX_WORK_MS
  const killed = kept.underWay.filter(isKilled)
  if (killed.length === 0) return kept
  const dollarsBy = (id: string) =>
    sumOf(
      killed.filter((one) => one.by === id),
      ({ dollars }) => dollars,
    )
  return {
    conversations: kept.conversations.map((one) => charged(one, dollarsBy(one.id))),
    underWay: kept.underWay.filter((one) => !isKilled(one)),
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

/** A file that cannot be read counts as empty. It is replaced by the next note. */
function parseState(text: string | undefined): BudgetState {
  try {
    const { waiting = [], ...kept } = JSON.parse(text ?? "{}") as Partial<
      BudgetState & { waiting: readonly EarlierVersionRow[] }
    >
    const { conversations = waiting.map(fromEarlierVersion), underWay = [] } = kept
    return { conversations: conversations.filter(isConversation), underWay: underWay.filter(isUnderWay) }
  } catch {
    return { conversations: [], underWay: [] }
  }
}

type EarlierVersionRow = Pick<WaitingConversation, "project" | "id" | "from" | "said">

/** Version 0.1.0 wrote only what waits. */
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
