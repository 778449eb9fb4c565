/** The text of a block, and the identifiers in it. */
import type { Block } from "@strata/core"
import { isText, isToolResult, isToolUse, resultBlocks, textOf } from "@strata/core/messages"
import { findMeasuredNames } from "./measured-names.ts"

const names = new WeakMap<Block, ReadonlySet<string>>()

export function measuredNamesIn(block: Block): ReadonlySet<string> {
  const known = names.get(block)
  if (known) return known
  const found = findMeasuredNames(blockText(block))
  names.set(block, found)
  return found
}

/** The text of a block without its thinking and without JSON escapes. */
export function blockText(block: Block): string {
  if (isText(block)) return block.text
  if (isToolUse(block)) return stringsIn(block.input)
  return isToolResult(block) ? textOf(resultBlocks(block)) : ""
}

function stringsIn(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value)
  return Object.values(value).map(stringsIn).join("\n")
}
