/** Copies of messages with blocks changed or removed. The originals stay as they are. */
import { type Block, isThinking, toBlocks } from "../../messages/blocks.ts"
import type { Message } from "../../messages/messages.ts"

export const blocksOf = (message: Message): readonly Block[] =>
  message.type === "user" || message.type === "assistant" ? toBlocks(message.message.content) : []

/** The same message where it is in blocks and none changes. */
export function mapBlocks(message: Message, change: (block: Block) => Block): Message {
  if (message.type !== "user" && message.type !== "assistant") return message
  const blocks = blocksOf(message)
  const content = blocks.map(change)
  if (blocks === message.message.content && content.every((block, at) => block === blocks[at])) return message
  return { ...message, message: { ...message.message, content } } as Message
}

/** After a boundary, what the API counted before it no longer applies. */
export function withoutUsage(message: Message): Message {
  if (message.type !== "assistant") return message
  const { usage: _, ...rest } = message.message
  return { ...message, message: rest }
}

/** Without the blocks at these places. */
export function withoutBlocks(message: Message, places: ReadonlySet<number>): Message {
  if (message.type !== "assistant" || places.size === 0) return message
  return { ...message, message: { ...message.message, content: blocksOf(message).filter((_, at) => !places.has(at)) } }
}

/** A turn that ended in thinking did not stop inside a server call. Without the thinking it must not look as if it had. */
export function withoutThinking(message: Message): Message {
  if (message.type !== "assistant") return message
  const blocks = blocksOf(message)
  const last = blocks.at(-1)
  const stop = last && isThinking(last) ? { stop_reason: null } : {}
  return { ...message, message: { ...message.message, ...stop, content: blocks.filter((block) => !isThinking(block)) } }
}
