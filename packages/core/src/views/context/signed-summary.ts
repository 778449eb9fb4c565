/**
 * A summary that the API wrote and signed. It is sent as a block before everything else, to the model that wrote it. Thinking in the messages
 * that follow it directly stays valid, so nothing else may come between: the preamble and our own text follow those messages.
 */
import type { FlatMessage } from "../../messages/flatten.ts"
import type { Message, SignedSummary } from "../../messages/messages.ts"
import type { Repair } from "../../messages/repair.ts"
import { flawOf } from "../../messages/shapes/block-shapes.ts"
import { isRecord } from "../../messages/shapes/shape.ts"

/** What the message is signed with. A journal may hold anything: what is no signed block is passed over. */
export function signedIn(message: Message | undefined): SignedSummary | undefined {
  const signed: unknown = message?.type === "user" && message.isCompactSummary ? message.signed : undefined
  if (!isRecord(signed) || typeof signed.model !== "string" || typeof signed.text !== "string") return undefined
  const { block } = signed
  if (!isRecord(block) || block.type !== "compaction" || flawOf(block)) return undefined
  const isReadable = typeof block.content === "string" && typeof block.signature === "string"
  return isReadable ? (signed as unknown as SignedSummary) : undefined
}

const beginnings = new WeakMap<SignedSummary, FlatMessage>()

/** The first message of a request. The same object each time, so that readers need not look at it again. */
export function beginningWith(signed: SignedSummary): FlatMessage {
  const known = beginnings.get(signed)
  if (known) return known
  const message = { role: "assistant", content: [signed.block] } as unknown as FlatMessage
  beginnings.set(signed, message)
  return message
}

/** The summary's message with only the text that follows the block. */
export const framing = (summary: Message, { text }: SignedSummary): Message =>
  ({ ...summary, message: { role: "user", content: [{ type: "text", text }] } }) as Message

/** The repair that sends the text instead. */
export const unsigned = ({ uuid }: Pick<Message, "uuid">): Repair => ({ rule: "unsigned-summary", id: uuid })
