/** Some models receive no thinking from before the user's last message. The server drops it and does not bill it. */

import { type FlatMessage, isThinking, isToolResult } from "@strata/core/messages"
import type { ModelFacts } from "@strata/core/tokens"

/** Messages without their thinking, cached so that each is the same object every time and measured once. */
const shortened = new WeakMap<FlatMessage, FlatMessage>()

/** The messages that the model receives. */
export function withoutForgottenThinking(
  messages: readonly FlatMessage[],
  { accepts }: ModelFacts,
): readonly FlatMessage[] {
  if (accepts.earlierThinking) return messages
  const turn = messages.findLastIndex(({ role, content }) => role === "user" && !content.some(isToolResult))
  return messages.map((message, at) =>
    at < turn && message.content.some(isThinking) ? withoutThinking(message) : message,
  )
}

function withoutThinking(message: FlatMessage): FlatMessage {
  const known = shortened.get(message)
  if (known) return known
  const short = { ...message, content: message.content.filter((block) => !isThinking(block)) }
  shortened.set(message, short)
  return short
}
