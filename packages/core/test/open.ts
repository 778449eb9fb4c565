/** Opens conversations for tests: in memory, with a clock that stands still and ids that repeat. */
import {
  type Conversation,
  manualClock,
  memoryStore,
  type OpenConversation,
  openConversation,
  type Store,
  seededIds,
} from "../src/index.ts"

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
