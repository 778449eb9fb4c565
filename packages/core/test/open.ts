/** Opens conversations for tests: in memory, with a clock that stands still and ids that repeat. */
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

/** As if the model could delete inside its cache: for decisions that no public model has a use for. */
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

/** Everything in a conversation's journal, first to last. */
export async function entriesOf(chat: Conversation): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of chat.entries()) entries.push(entry)
  return entries
}
