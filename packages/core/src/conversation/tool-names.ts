/** The tools of a conversation by name: those its prompt offers, and those its last response called. */
import { isToolUse } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import type { Views } from "../views/views.ts"

export function promptTools({ context }: Views): readonly string[] {
  const tools = context.prompt?.tools
  return Array.isArray(tools) ? tools.map(({ name }: { name: unknown }) => String(name)) : []
}

export function calledTools({ context }: Views): readonly string[] {
  const last = context.lastResponse
  return last
    ? contentOf(last)
        .filter(isToolUse)
        .map(({ name }) => name)
    : []
}
