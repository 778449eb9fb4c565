/** List entries of conversations, taken from the appended lines, so that a list is one call and opens no journal. */

import type { Entry } from "@strata/core"
import type { ConversationListing } from "@strata/core/store"
import { firstWordsIn, sessionFacts } from "@strata/core/store"

/** The facts that a batch adds to a list entry. As JSON, in which characters that the server rejects are escaped. */
export interface ListingFacts {
  readonly facts: string | null
  readonly firstWords: string | null
}

export function extractListingFacts(
  entries: readonly Entry[],
  { hasFirstWords }: { readonly hasFirstWords: boolean },
): ListingFacts {
  const facts = sessionFacts(entries)
  const words = hasFirstWords
    ? undefined
    : entries
        .values()
        .map(firstWordsIn)
        .find((one) => one !== undefined)
  return {
    facts: facts ? JSON.stringify(facts) : null,
    firstWords: words === undefined ? null : JSON.stringify(words),
  }
}

export interface ListRow {
  readonly id: string
  readonly bytes: number
  readonly touched: number
  readonly facts: string | null
  readonly first_words: string | null
}

export function listingFrom({ id, bytes, touched, facts: text, first_words }: ListRow): ConversationListing {
  const facts = text === null ? undefined : (JSON.parse(text) as NonNullable<ConversationListing["facts"]>)
  const hasWords = first_words !== null && facts?.title === undefined
  return {
    ...{ id, bytes, touched: new Date(touched).toISOString() },
    ...(facts ? { facts } : {}),
    ...(hasWords ? { firstWords: JSON.parse(first_words) as string } : {}),
  }
}
