/**
 * Tools with `defer_loading`: they are sent with every request, but are not part of the prompt. A `tool_reference` in a tool result puts the
 * definition in its place.
 */
import { nestedBlocks, type Turn } from "./conversation.ts"
import { contentHash, type Measure, type TokenCounter } from "./tokens.ts"
import type { Block, ToolParam } from "./wire.ts"

export const isDeferred = ({ defer_loading }: ToolParam) => defer_loading === true

/** The tools that a block loads, in order. */
export function toolsLoadedBy(block: Block, tools: readonly ToolParam[] = []): readonly ToolParam[] {
  return referencesIn(block).flatMap((name) => tools.find((tool) => tool.name === name && isDeferred(tool)) ?? [])
}

export const referencesIn = (block: Block): readonly string[] =>
  foundIn(block).flatMap(({ type, tool_name }) => (type === "tool_reference" ? [`${tool_name}`] : []))

/** References of the server's own search are wrapped in its result. */
function foundIn(block: Block): readonly Block[] {
  if (block.type !== "tool_search_tool_result") return nestedBlocks(block).blocks
  return (block.content as { readonly tool_references?: readonly Block[] } | undefined)?.tool_references ?? []
}

/** The tools that the model sees: declared ones, then those that references have loaded. */
export function visibleTools(tools: readonly ToolParam[], turns: readonly Turn[]): readonly ToolParam[] {
  if (!tools.some(isDeferred)) return tools
  const loaded = turns.flatMap(({ blocks }) => blocks.flatMap(({ block }) => toolsLoadedBy(block, tools)))
  return [...tools.filter((tool) => !isDeferred(tool)), ...new Set(loaded)]
}

/** Adds the definitions that a block loads to its hash and size. */
export function withDefinitions(measure: Measure, loaded: readonly ToolParam[], counter: TokenCounter): Measure {
  if (loaded.length === 0) return measure
  const tokens = loaded.reduce((sum, tool) => sum + counter.tool(tool).tokens, measure.tokens)
  return { tokens, hash: contentHash([measure.hash, ...loaded.map((tool) => counter.tool(tool).hash)]) }
}
