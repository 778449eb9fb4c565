/** What a block says: its words, and the names among them. */
import type { Block } from "@strata/core"
import { isText, isToolResult, isToolUse, resultBlocks, textOf } from "@strata/core/messages"
import { needlesIn } from "./needles.ts"

const names = new WeakMap<Block, ReadonlySet<string>>()

export function namesIn(block: Block): ReadonlySet<string> {
  const known = names.get(block)
  if (known) return known
  const found = needlesIn(wordsOf(block))
  names.set(block, found)
  return found
}

/** The text of a block without its thinking, and without the escapes of JSON. */
export function wordsOf(block: Block): string {
  if (isText(block)) return block.text
  if (isToolUse(block)) return stringsIn(block.input)
  return isToolResult(block) ? textOf(resultBlocks(block)) : ""
}

function stringsIn(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value)
  return Object.values(value).map(stringsIn).join("\n")
}
