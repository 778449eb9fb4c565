/** What earlier conversations of the same owner say about pauses, so that the next one need not lose caches to learn it. */
import type { PauseSum, Pauses } from "./pauses.ts"

/** What is known about pauses before a conversation has had any. */
export interface PausePrior {
  /** How long the caller's own requests ask the server to keep what they cache, where they say so. */
  readonly asked?: "5m" | "1h" | undefined
  /** A program answers: it makes no pauses, and after the end it does not come back. */
  readonly isProgram?: boolean | undefined
  readonly earlier?: EarlierPauses | undefined
}

export interface EarlierPauses {
  readonly conversations: number
  /** Pauses that an hour bridges and five minutes do not, and those that an hour does not bridge. */
  readonly withinHour: PauseSum
  readonly beyondHour: PauseSum
  /** Tokens that were new when they were cached. */
  readonly grown: number
}

export const NO_EARLIER_PAUSES: EarlierPauses = {
  conversations: 0,
  withinHour: { count: 0, tokens: 0 },
  beyondHour: { count: 0, tokens: 0 },
  grown: 0,
}

/** What a conversation has added since it was opened. */
export function pausesSince({ withinHour, beyondHour, grown }: Pauses, before: EarlierPauses): EarlierPauses {
  return {
    conversations: 1,
    withinHour: combined(withinHour, before.withinHour, -1),
    beyondHour: combined(beyondHour, before.beyondHour, -1),
    grown: grown - before.grown,
  }
}

/** Older ones count less: habits change. */
export function withConversation(earlier: EarlierPauses, added: EarlierPauses): EarlierPauses {
  const { withinHour, beyondHour, grown, conversations } = earlier
  const aged = ({ count, tokens }: PauseSum) => ({ count: AGEING * count, tokens: AGEING * tokens })
  return {
    conversations: AGEING * conversations + added.conversations,
    withinHour: combined(aged(withinHour), added.withinHour, 1),
    beyondHour: combined(aged(beyondHour), added.beyondHour, 1),
    grown: AGEING * grown + added.grown,
  }
}

const AGEING = 0.95 // for each conversation: the latest twenty count most

const combined = (a: PauseSum, b: PauseSum, sign: 1 | -1): PauseSum => ({
  count: a.count + sign * b.count,
  tokens: a.tokens + sign * b.tokens,
})
