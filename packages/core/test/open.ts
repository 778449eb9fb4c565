/** Opens conversations for tests: in memory, with a manual clock and the same ids in every run. */
import {
  type Conversation,
  type Entry,
  manualClock,
  memoryStore,
  type OpenConversation,
  openConversation,
  type Store,
  seededIds,
} from "../src/parts.ts"

/** Settings for a model with cache editing, which no public model has. */
export const EDITS_CACHES = { models: { "claude-opus-4-6": { accepts: { cacheEditing: true } } } }

export function openTestConversation(
  options: Partial<OpenConversation> & { readonly store?: Store } = {},
): Promise<Conversation> {
  return openConversation({
    model: "claude-opus-4-6",
    id: "test",
    cwd: "/nowhere",
    dir: "/nowhere/.strata",
    env: {},
    system: "You help.",
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
