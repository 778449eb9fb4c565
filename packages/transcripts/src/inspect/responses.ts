/**
 * The billed responses of recorded conversations, each listed once. A fork's transcript repeats the responses of its parent, so a sum over
 * several files counts a shared response in one of them only.
 */

import type { TokenCounts } from "@strata/core"
import type { RequestSource } from "@strata/core/base"
import { type Entry, isDecision } from "@strata/core/store"
import { tokenCounts } from "@strata/core/tokens"
import type { RequestPurpose as Purpose } from "@strata/core/views"
import { type Bill, dollarsFor, findBill } from "@strata/core/views"
import type { Transcript } from "./read-transcripts.ts"

/** A billed response, or the sum of several if the transcript has only that. */
export interface RecordedResponse {
  /** The API's message id, or an id within the conversation if the format has none. */
  readonly id: string
  /** Time when the response began. Absent if the format has no times. */
  readonly at?: string
  readonly model: string
  readonly purpose: Purpose
  /** The sub-agent that made the request. */
  readonly agent?: string
  /** Number of responses that it sums up. */
  readonly requests: number
  readonly counts: TokenCounts
  /** Absent if the price is unknown. */
  readonly dollars?: number
  /** The response is incomplete or not recorded, so the usage is partly estimated. */
  readonly estimated?: true
  /** The transcript lacks the request. */
  readonly unrecorded?: true
}

const NO_TIME = "1970-01-01" // importers of formats without times start here

/**
 * Lists responses in the order of their first entries, abandoned branches first. Their costs add up to the cost that `inspectTranscript`
 * reports.
 */
export function listResponses({ entries, aside }: Pick<Transcript, "entries" | "aside">): readonly RecordedResponse[] {
  const found = new Map<string, RecordedResponse>()
  let source: RequestSource = "main"
  const note = (entry: Entry) => {
    const bill = findBill(entry, source)
    if (bill) found.set(bill.id, { ...responseOf(bill, entry), ...firstEntryFacts(found.get(bill.id)) })
  }
  for (const entry of aside) note(entry)
  for (const entry of entries) {
    if (isDecision(entry) && entry.subtype === "session") source = entry.source ?? "main"
    note(entry)
  }
  return [...found.values()]
}

function responseOf(bill: Bill, { timestamp }: Entry): RecordedResponse {
  const { id, model, purpose, usage, agent, requests = 1, isEstimated, isUnrecorded } = bill
  const dollars = dollarsFor(bill)
  return {
    id,
    ...(timestamp.startsWith(NO_TIME) ? {} : { at: timestamp }),
    ...{ model, purpose },
    ...(agent === undefined ? {} : { agent }),
    ...{ requests, counts: tokenCounts(usage) },
    ...(dollars === undefined ? {} : { dollars }),
    ...(isEstimated ? { estimated: true } : {}),
    ...(isUnrecorded ? { unrecorded: true } : {}),
  }
}

/** Of a response in several entries, the first has the time and the purpose, the last the complete usage. */
const firstEntryFacts = (before: RecordedResponse | undefined) =>
  before && { ...(before.at === undefined ? {} : { at: before.at }), model: before.model, purpose: before.purpose }

/** Responses of a conversation that are counted in another one. */
export interface CountedElsewhere {
  /** Index of the other conversation in the list. */
  readonly in: number
  readonly responses: readonly RecordedResponse[]
}

/** The responses of one conversation, for `countedElsewhere`. */
export interface ConversationResponses {
  readonly file: string
  readonly responses: readonly RecordedResponse[]
}

/**
 * For each conversation, the responses that a sum counts in another one. A shared response is counted in the conversation that was first
 * continued without the others: the parent of a fork. Ties are broken by file name.
 */
export function countedElsewhere(
  conversations: readonly ConversationResponses[],
): readonly (readonly CountedElsewhere[])[] {
  const holders = new Map<string, number[]>()
  for (const [at, { responses }] of conversations.entries())
    for (const { id } of responses) {
      const own = holders.get(id)
      if (!own) holders.set(id, [at])
      else if (own.at(-1) !== at) own.push(at)
    }
  const ranks = ranksOf(conversations, holders)
  return conversations.map(({ responses }, at) => {
    const shared = Map.groupBy(responses, ({ id }) =>
      holders.get(id)!.reduce((a, b) => (ranks[a]! <= ranks[b]! ? a : b)),
    )
    shared.delete(at)
    return [...shared].map(([other, those]) => ({ in: other, responses: those }))
  })
}

/** The order of precedence for counting shared responses. */
function ranksOf(
  conversations: readonly ConversationResponses[],
  holders: ReadonlyMap<string, readonly number[]>,
): readonly number[] {
  const firsts = conversations.map(({ file, responses }, at) => {
    const own = responses.filter(({ id }) => holders.get(id)!.length === 1)
    const first = own.map(({ at: time = "" }) => time).reduce((a, b) => (a < b ? a : b), own[0]?.at ?? "")
    return { at, first, file }
  })
  const ranks: number[] = []
  const inOrder = firsts.toSorted((a, b) => compare(a.first, b.first) || compare(a.file, b.file) || a.at - b.at)
  for (const [rank, { at }] of inOrder.entries()) ranks[at] = rank
  return ranks
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
