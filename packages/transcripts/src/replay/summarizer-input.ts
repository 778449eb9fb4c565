/** Input tokens of a direct call that writes a summary and sends the conversation again, without the cache. */
import { isToolResult } from "@strata/core/messages"
import type { SentMessage } from "./server-context.ts"

const CHARACTERS_PER_TOKEN = 4

export function summarizerInputTokens(
  { messages }: { readonly messages: readonly SentMessage[] },
  { resultLimit = Number.POSITIVE_INFINITY }: { readonly resultLimit?: number },
): number {
  const max = resultLimit / CHARACTERS_PER_TOKEN
  return messages.reduce(
    (sum, { items }) =>
      items.reduce(
        (all, { block, tokens }) => all + (block && isToolResult(block) ? Math.min(tokens, max) : tokens),
        sum,
      ),
    0,
  )
}
