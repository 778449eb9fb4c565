/** The messages of other agents, as the Messages API has them. What is not understood is left out, never refused. */
import type { PlainMessage } from "@strata/core"
import { claudeCodeMessage } from "./claude-code-messages.ts"
import type { Client } from "./clients.ts"

/** Same length, same order: the answer names messages by their places. */
export function plainMessages(messages: readonly unknown[], client: Client | undefined): readonly PlainMessage[] {
  return messages.map((message) => (client === "claude-code" ? claudeCodeMessage(message) : apiMessage(message)))
}

function apiMessage(message: unknown): PlainMessage {
  const { role, content, ...rest } = Object(message) as Partial<PlainMessage>
  const isKnown = role === "user" || role === "assistant" || role === "system"
  return { ...rest, role: isKnown ? role : "system", content: content ?? "" }
}
