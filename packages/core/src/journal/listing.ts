/**
 * What a listing shows about a conversation: the newest session facts, the time of its last message, and the first line of the user's
 * first message if there is no title.
 */
import { firstUserLine as wordsOf } from "../messages/messages.ts"
import { type DecisionEntry, type DecisionOf, type Entry, isDecision, isMessage } from "./entries.ts"
import type { ConversationListing, Journal } from "./store.ts"

export async function readListingFacts(
  journal: Pick<Journal, "tail" | "entries">,
): Promise<Pick<ConversationListing, "facts" | "firstWords" | "lastMessage">> {
  const { entries } = await journal.tail()
  const facts = sessionFacts(entries)
  const lastMessage = entries.findLast(hasMessageTime)?.timestamp
  const last = lastMessage === undefined ? {} : { lastMessage }
  if (facts?.title !== undefined) return { facts, ...last }
  const firstWords = await firstWordsOf(journal)
  return { ...(facts ? { facts } : {}), ...(firstWords === undefined ? {} : { firstWords }), ...last }
}

const NO_TIME = "1970-01-01" // importers use this time for formats without times

const hasMessageTime = (entry: Entry): boolean =>
  (entry.type === "user" || entry.type === "assistant") && !entry.timestamp.startsWith(NO_TIME)

/** The newest session facts among these entries. */
export function sessionFacts(entries: readonly Entry[]): ConversationListing["facts"] {
  const session = entries.findLast(isSession)
  return session && factsOf(session)
}

/** The first line of the user's message, if the entry is one. */
export const firstWordsIn = (entry: Entry): string | undefined => (isMessage(entry) ? wordsOf([entry]) : undefined)

async function firstWordsOf(journal: Pick<Journal, "entries">): Promise<string | undefined> {
  for await (const entry of journal.entries()) {
    const words = firstWordsIn(entry)
    if (words !== undefined) return words
  }
  return undefined
}

type SessionEntry = DecisionEntry & DecisionOf<"session">

const isSession = (entry: Entry): entry is SessionEntry => isDecision(entry) && entry.subtype === "session"

function factsOf(session: SessionEntry): NonNullable<ConversationListing["facts"]> {
  const { type: _type, uuid: _uuid, parentUuid: _parent, timestamp: _timestamp, subtype: _subtype, ...facts } = session
  return facts
}
