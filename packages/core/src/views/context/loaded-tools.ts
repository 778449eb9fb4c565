/** Which tools the messages in view have loaded. A result that was cleared or compacted loads nothing any more. */
import { isToolResult } from "../../messages/blocks.ts"
import { contentOf, type Message } from "../../messages/messages.ts"
import { referencesIn } from "../../messages/tool-references.ts"

export interface LoadedTools {
  /** By a reference in a tool result. */
  readonly referenced: ReadonlySet<string>
  /** By an attachment that says so. */
  readonly said: ReadonlySet<string>
}

export function loadedTools(messages: readonly Message[]): LoadedTools {
  const referenced = new Set<string>()
  const said = new Set<string>()
  for (const message of messages) {
    if (message.type === "user")
      for (const block of contentOf(message).filter(isToolResult))
        for (const name of referencesIn(block)) referenced.add(name)
    if (message.type !== "attachment" || message.attachment.type !== "tool_delta") continue
    for (const { name, loaded } of message.attachment.added) if (loaded) said.add(name)
    for (const name of message.attachment.removed) said.delete(name)
  }
  return { referenced, said }
}
