/** Opens conversations for tests: in memory, with a manual clock and the same ids in every run. */

import { manualClock, seededIds } from "../src/base/clock.ts"
import { localUser } from "../src/base/owner.ts"
import type { Conversation } from "../src/conversation/conversation.ts"
import { openConversation } from "../src/conversation/open.ts"
import type { ConversationOptions } from "../src/conversation/options.ts"
import type { Entry } from "../src/journal/entries.ts"
import { memoryStore } from "../src/journal/in-memory/store.ts"
import type { Store } from "../src/journal/store.ts"

/** Settings for a model with cache editing, which no public model has. */
export const EDITS_CACHES = { models: { "claude-opus-4-6": { accepts: { cacheEditing: true } } } }

export function openTestConversation(
  options: Partial<ConversationOptions> & { readonly store?: Store } = {},
): Promise<Conversation> {
  return openConversation({
    model: "claude-opus-4-6",
    id: "test",
    cwd: "/nowhere",
    dir: "/nowhere/.strata",
    env: {},
    system: "You help.",
    memory: { owner: localUser },
    layers: [],
    cacheBreakpoints: false,
    store: options.store ?? memoryStore(),
    clock: manualClock(),
    ids: seededIds("test"),
    ...options,
  })
}

/** All entries of a conversation's journal, first to last. */
export async function entriesOf(chat: Conversation): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of chat.entries()) entries.push(entry)
  return entries
}
