/** A tool or block as the server's cache sees it: its bytes, without marks. */
import { type Block, withoutBreakpoint } from "../../messages/blocks.ts"
import { hasExactText, stringifyExact } from "../../messages/exact-json.ts"
import type { ToolDefinition } from "../../messages/request.ts"

export type PromptItem = ToolDefinition | Block

export function cachedText(item: PromptItem): string {
  const bare = withoutBreakpoint(item as Block)
  return hasExactText(bare) ? stringifyExact(bare) : JSON.stringify(bare)
}
