/** Which calls have their whole result in the kept messages. A file that such a result shows need not be shown again. */
import { isToolResult } from "../../../messages/blocks.ts"
import { contentOf, type Message } from "../../../messages/messages.ts"

/** `isWhole`: whether a result is neither put aside nor cleared. */
export function wholeCalls(kept: readonly Message[], isWhole: (toolUseId: string) => boolean): ReadonlySet<string> {
  const results = kept.flatMap((message) => (message.type === "user" ? contentOf(message).filter(isToolResult) : []))
  return new Set(results.map(({ tool_use_id }) => tool_use_id).filter(isWhole))
}
