/** How a tool result looks to the model after a decision about it. Pure: the same decision gives the same bytes for ever. */
import { type Block, isText, resultBlocks, type ToolResult, textOf } from "../conversation/blocks.ts"
import type { DecisionOf } from "../journal/entries.ts"

/** Other programs look for this text: it is exact. */
export const CLEARED_MARKER = "[Old tool result content cleared]"

export function renderCleared(result: ToolResult, address: string): ToolResult {
  return { ...result, content: `${CLEARED_MARKER} Recall: ${address}` }
}

export function renderEmpty(result: ToolResult, { tool }: DecisionOf<"tool-result-empty">): ToolResult {
  return { ...result, content: `[${tool} ${result.is_error ? "failed without a message" : "finished without output"}]` }
}

export function renderPersisted(
  result: ToolResult,
  decision: DecisionOf<"tool-result-persisted">,
  address: string,
): ToolResult {
  const { bytes, path, cut, shape, media = [] } = decision
  const text = typeof result.content === "string" ? result.content : textOf(resultBlocks(result))
  const head = text.slice(0, decision.head)
  const tail = decision.tail > 0 ? text.slice(-decision.tail) : ""
  const lines = [
    "<persisted-output>",
    `The result is large: ${bytes} bytes${otherKinds(result)}. All of it is in ${path}; read it there, or in parts. Recall: ${address}`,
    ...media.map((item) => `${item.mediaType}, ${item.bytes} bytes: ${item.path}`),
    ...(shape === undefined ? [] : ["It is JSON of this shape:", shape]),
    ...(head === "" ? [] : [cut === "mid-line" ? "Its beginning, cut inside a long line:" : "Its beginning:", head]),
    ...(tail === "" ? [] : ["Its end:", tail]),
    "</persisted-output>",
  ]
  return { ...result, content: lines.join("\n") }
}

function otherKinds(result: ToolResult): string {
  if (typeof result.content === "string") return ""
  const other = resultBlocks(result).filter((block: Block) => !isText(block))
  const kinds = [...new Set(other.map((block) => block.type))]
  return kinds.length > 0 ? `, with ${kinds.join(" and ")}` : ""
}
