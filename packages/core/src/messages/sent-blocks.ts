/** The blocks that a stored message adds to a request: its own, or the rendered attachment. */
import { renderAttachment } from "./attachments.ts"
import type { Block } from "./blocks.ts"
import { contentOf, isSentToModel, type Message } from "./messages.ts"

export function sentBlocks(message: Message): readonly Block[] {
  if (!isSentToModel(message)) return []
  if (message.type === "attachment") return renderAttachment(message.attachment)
  return message.type === "user" || message.type === "assistant" ? contentOf(message) : []
}
