/** How a tool result looks to the model after a decision about it. Pure: the same decision gives the same bytes for ever. */
import { type Block, isText, resultBlocks, type ToolResult, textOf } from "../conversation/blocks.ts"
import type { DecisionOf } from "../journal/entries.ts"

/** Other programs look for this text: it is exact. */
export const CLEARED_MARKER = "[Old tool result content cleared]"

export function renderCleared(result: ToolResult, address: string): ToolResult {
  return { ...result, content: `${CLEARED_MARKER} Recall: ${address}` }
}

export function renderPersisted(
  result: ToolResult,
  decision: DecisionOf<"tool-result-persisted">,
  address: string,
): ToolResult {
  const text = typeof result.content === "string" ? result.content : textOf(resultBlocks(result))
  const other = typeof result.content === "string" ? [] : resultBlocks(result).filter((block: Block) => !isText(block))
  const kinds = [...new Set(other.map((block) => block.type))]
  const head = text.slice(0, decision.head)
  const tail = decision.tail > 0 ? text.slice(-decision.tail) : ""
  const lines = [
    "<persisted-output>",
    `The result is large: ${decision.bytes} bytes${kinds.length > 0 ? `, with ${kinds.join(" and ")}` : ""}. All of it is in ${decision.path}; read it there, or in parts. Recall: ${address}`,
    ...(head === "" ? [] : ["Its beginning:", head]),
    ...(tail === "" ? [] : ["Its end:", tail]),
    "</persisted-output>",
  ]
  return { ...result, content: lines.join("\n") }
}
