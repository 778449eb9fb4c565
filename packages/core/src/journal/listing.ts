/** What a listing says about a conversation: the session facts written last, and the person's first words where it has no title. */
import { textOf } from "../messages/blocks.ts"
import { contentOf, isRequest } from "../messages/messages.ts"
import { type DecisionEntry, type DecisionOf, type Entry, isDecision, isMessage } from "./entries.ts"
import type { ConversationListing, Journal } from "./store.ts"

const FIRST_WORDS_LENGTH = 120 // characters: more than a line of a list shows

export async function listingFacts(
  journal: Pick<Journal, "tail" | "entries">,
): Promise<Pick<ConversationListing, "facts" | "firstWords">> {
  const { entries } = await journal.tail()
  const session = entries.findLast(isSession)
  const facts = session && factsOf(session)
  if (facts?.title !== undefined) return { facts }
  const firstWords = await firstWordsOf(journal)
  return { ...(facts ? { facts } : {}), ...(firstWords === undefined ? {} : { firstWords }) }
}

async function firstWordsOf(journal: Pick<Journal, "entries">): Promise<string | undefined> {
  for await (const entry of journal.entries()) {
    if (!isMessage(entry) || !isRequest(entry)) continue
    return textOf(contentOf(entry)).trim().split("\n", 1)[0]!.trimEnd().slice(0, FIRST_WORDS_LENGTH)
  }
  return undefined
}

type SessionEntry = DecisionEntry & DecisionOf<"session">

const isSession = (entry: Entry): entry is SessionEntry => isDecision(entry) && entry.subtype === "session"

function factsOf(session: SessionEntry): NonNullable<ConversationListing["facts"]> {
  const { type: _type, uuid: _uuid, parentUuid: _parent, timestamp: _timestamp, subtype: _subtype, ...facts } = session
  return facts
}
