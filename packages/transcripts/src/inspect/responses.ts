/**
 * The billed responses of recorded conversations, each once. A fork's transcript repeats the responses of its parent, so a sum over
 * several files counts a shared response in one of them only.
 */

import type { TokenCounts } from "@strata/core"
import type { RequestSource } from "@strata/core/base"
import { type Entry, isDecision } from "@strata/core/store"
import { tokenCounts } from "@strata/core/tokens"
import type { RequestPurpose as Purpose } from "@strata/core/views"
import { type Bill, billOf, dollarsFor } from "@strata/core/views"
import type { Transcript } from "./read-transcripts.ts"

/** A billed response, or the total of several where the transcript has only that. */
export interface RecordedResponse {
  /** The API's id of the message. Where the format has none: an id of the conversation's own. */
  readonly id: string
  /** When its answer began. Absent where the format has no times. */
  readonly at?: string
  readonly model: string
  readonly purpose: Purpose
  /** The sub-agent that asked. */
  readonly agent?: string
  /** How many responses it is the sum of. */
  readonly requests: number
  readonly counts: TokenCounts
  /** Absent if the price is unknown. */
  readonly dollars?: number
  /** Its answer did not arrive whole, or is not recorded: the usage is partly a guess. */
  readonly estimated?: true
  /** The transcript does not have the request at all. */
  readonly unrecorded?: true
}

const NO_TIME = "1970-01-01" // importers of formats without times start here

/** In the order of their first entries, abandoned branches first. They add up to the money that `inspectTranscript` reports. */
export function listResponses({ entries, aside }: Pick<Transcript, "entries" | "aside">): readonly RecordedResponse[] {
  const found = new Map<string, RecordedResponse>()
  let source: RequestSource = "main"
  const note = (entry: Entry) => {
    const bill = billOf(entry, source)
    if (bill) found.set(bill.id, { ...responseOf(bill, entry), ...placeOf(found.get(bill.id)) })
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

/** A response in several entries: the first has the time and the purpose, the last the whole usage. */
const placeOf = (before: RecordedResponse | undefined) =>
  before && { ...(before.at === undefined ? {} : { at: before.at }), model: before.model, purpose: before.purpose }

/** Responses of a conversation that are counted in another. */
export interface CountedElsewhere {
  /** The place of the other in the list. */
  readonly in: number
  readonly responses: readonly RecordedResponse[]
}

/** Of one conversation, as `countedElsewhere` compares them. */
export interface ConversationResponses {
  readonly file: string
  readonly responses: readonly RecordedResponse[]
}

/**
 * For each conversation: its responses that a sum counts in another one. A shared response is counted in the conversation that went on
 * without the others first: the parent of a fork. Equal ones are counted in the first by name of the file.
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

/** The order in which conversations count what they share. */
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
