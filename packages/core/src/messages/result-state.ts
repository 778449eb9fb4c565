/** How a tool call ended, read from its result: also in conversations that other programs recorded. */
import { resultBlocks, type ToolResult, textOf } from "./blocks.ts"

/** `denied`: it did not run, because the person, a rule or a hook refused it. */
export type ResultState = "ok" | "failed" | "denied" | "interrupted"

/** How results of calls begin that the person or the end of a session stopped. */
const INTERRUPTED = /^Interrupted (?:by the user )?before it finished\./

/** How results of refused calls begin: ours, and those in imported conversations. */
const DENIALS = [
  /^Not allowed: /,
  /^The user doesn't want to (?:proceed with this tool use|take this action)/,
  /^Permission (?:for this tool use was|to use .{1,200} has been) denied/,
]

export function resultState(result: ToolResult): ResultState {
  if (!result.is_error) return "ok"
  const text = resultText(result)
  if (DENIALS.some((beginning) => beginning.test(text))) return "denied"
  return INTERRUPTED.test(text) ? "interrupted" : "failed"
}

/** A result as text; other blocks appear by their type. */
export function resultText(result: ToolResult): string {
  const blocks = resultBlocks(result)
  const others = blocks.filter(({ type }) => type !== "text").map(({ type }) => `[${type}]`)
  return [textOf(blocks), ...others].filter(Boolean).join("\n")
}
