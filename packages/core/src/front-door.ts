/**
 * The library's front doors. What stands behind them is loaded when one is opened: importing the library costs little, and a program
 * that only counts tokens never loads the journal.
 */
import type { Conversation } from "./conversation/conversation.ts"
import type { OpenConversation } from "./conversation/open.ts"
import type { ImportOptions, ImportOutcome } from "./import/import-conversations.ts"

/** Opens a conversation: a new one, or one that was kept earlier. */
export async function openConversation(options: OpenConversation): Promise<Conversation> {
  const { openConversation: open } = await import("./conversation/open.ts")
  return open(options)
}

/** Imports every conversation in a file of another program. The same file imported again is refused: its conversations are there already. */
export async function importConversations(options: ImportOptions): Promise<readonly ImportOutcome[]> {
  const { importConversations: read } = await import("./import/import-conversations.ts")
  return read(options)
}
