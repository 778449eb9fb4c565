/**
 * Cache editing, which is NOT part of the public API. `cacheEdits: true` turns it on, and every response then carries
 * the header below.
 *
 * A block `{"type":"cache_edits","edits":[{"type":"delete","cache_reference":"toolu_…"}]}` in a user message deletes
 * the result of that tool call from the cached prompt. The prefix can still be read from the cache, with fewer tokens.
 */
import { CLEARED_RESULT } from "./context-management/edits.ts"
import { mapBlocks, type Turn } from "./conversation.ts"
import type { TokenCounter } from "./tokens.ts"
import { TAGGED_BLOCK_TOKENS } from "./tokens.ts"

export const NON_STANDARD_HEADER = ["x-sim-non-standard", "cache-edits"] as const

export interface CacheDeletions {
  /** Ids of the tool calls whose results were deleted. */
  readonly deleted: ReadonlySet<string>
  /** Total tokens deleted so far in this conversation. */
  readonly tokens: number
  /** The turns that the model still gets. */
  readonly turns: readonly Turn[]
}

export function applyCacheEdits(turns: readonly Turn[], counter: TokenCounter): CacheDeletions {
  const blocks = turns.flatMap((turn) => turn.blocks.map(({ block }) => block))
  const references = new Set(blocks.flatMap(({ edits = [] }) => edits.map(({ cache_reference }) => cache_reference)))
  const results = blocks.filter(
    ({ type, tool_use_id = "", cache_reference = tool_use_id }) =>
      type === "tool_result" && references.has(cache_reference),
  )
  const deleted = new Set(results.map(({ tool_use_id = "" }) => tool_use_id))
  return {
    deleted,
    tokens: results.reduce((sum, block) => sum + counter.block(block).tokens - TAGGED_BLOCK_TOKENS, 0),
    turns: mapBlocks(turns, ({ block }) => {
      if (block.type === "cache_edits") return undefined
      return block.type === "tool_result" && deleted.has(block.tool_use_id ?? "")
        ? { ...block, content: CLEARED_RESULT }
        : block
    }),
  }
}
