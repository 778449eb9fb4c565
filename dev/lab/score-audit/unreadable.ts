/** Ranges of recorded conversations with unreadable content: as if a file had been a picture or a PDF, or thinking were hidden. */
import type { Message } from "@strata/core"
import { type Block, contentOf, isToolResult, isToolUse } from "@strata/core"
import { isThinking } from "../../../packages/core/src/messages/blocks.ts"
import { isFromUser } from "../../../packages/core/src/messages/messages.ts"

export const UNREADABLE_KINDS = ["image", "PDF", "redacted thinking", "empty thinking"] as const
export type UnreadableKind = (typeof UNREADABLE_KINDS)[number]

const EVERY = 20 // one of this many file reads: its result becomes a picture or a document
const MEDIA = {
  image: { type: "image", source: { type: "base64", media_type: "image/png", data: "aGlkZGVu" } },
  PDF: { type: "document", source: { type: "base64", media_type: "application/pdf", data: "aGlkZGVu" } },
} as const

/** The same messages with media in each user message and as results of some file reads, or with all thinking hidden. */
export function withUnreadable(messages: readonly Message[], kind: UnreadableKind): readonly Message[] {
  const change = kind === "image" || kind === "PDF" ? readsAs(kind, messages) : hiding(kind)
  return messages.map((message) => {
    if (message.type !== "user" && message.type !== "assistant") return message
    const content = contentOf(message).flatMap(change)
    const first =
      kind === "image" || kind === "PDF"
        ? isFromUser(message) && [MEDIA[kind]]
        : message.type === "assistant" && !content.some(isThinking) && [hidden(kind)]
    return { ...message, message: { ...message.message, content: [...(first || []), ...content] } } as Message
  })
}

function readsAs(kind: "image" | "PDF", messages: readonly Message[]): (block: Block) => readonly Block[] {
  const reads = new Set(
    messages
      .flatMap((message) => (message.type === "assistant" ? contentOf(message) : []))
      .filter((block) => isToolUse(block) && /read|view/i.test(block.name))
      .map((block) => (block as { readonly id: string }).id),
  )
  let nth = 0
  return (block) => {
    if (!isToolResult(block) || !reads.has(block.tool_use_id) || nth++ % EVERY !== 0) return [block]
    return [{ ...block, content: [MEDIA[kind]] } as Block]
  }
}

const hiding =
  (kind: UnreadableKind) =>
  (block: Block): readonly Block[] =>
    isThinking(block) ? [hidden(kind)] : [block]

const hidden = (kind: UnreadableKind): Block =>
  kind === "redacted thinking"
    ? { type: "redacted_thinking", data: "c2VhbGVk" }
    : { type: "thinking", thinking: "", signature: "c2lnbmVk" }
