/** How tool calls and results read on every screen. */
import type { ToolResult } from "@strata/core/internal"
import { resultBlocks, textOf } from "@strata/core/internal/messages/blocks"
import { firstLine } from "./text.ts"

export interface ResultSummary {
  /** `denied`: it did not run, because the person, a rule or a hook refused it. */
  readonly state: "ok" | "failed" | "denied" | "interrupted"
  /** The first line that is not blank. */
  readonly text: string
}

export function resultSummary(result: ToolResult): ResultSummary {
  const text = resultText(result)
  if (!result.is_error) return { state: "ok", text: firstLine(text) }
  if (isDenial(text)) return { state: "denied", text: firstLine(text.replace(OURS, "")) }
  return { state: INTERRUPTED.test(text) ? "interrupted" : "failed", text: firstLine(text) }
}

/** How results of calls begin that the person or the end of a session stopped. */
const INTERRUPTED = /^Interrupted (?:by the user )?before it finished\./

const OURS = /^Not allowed: /
/** How results of refused calls begin: ours, and those in imported conversations. */
const DENIALS = [
  OURS,
  /^The user doesn't want to (?:proceed with this tool use|take this action)/,
  /^Permission (?:for this tool use was|to use .{1,200} has been) denied/,
]

const isDenial = (text: string): boolean => DENIALS.some((beginning) => beginning.test(text))

/** A result as text; other blocks appear by their type. */
export function resultText(result: ToolResult): string {
  const blocks = resultBlocks(result)
  const others = blocks.filter(({ type }) => type !== "text").map(({ type }) => `[${type}]`)
  return [textOf(blocks), ...others].filter(Boolean).join("\n")
}

/** A tool call in a few words: its name and its summary, without repeating the name. */
export function callWords(name: string, summary: string): string {
  const repeats = summary.toLowerCase().startsWith(`${name.toLowerCase()} `)
  return `${name} ${repeats ? summary.slice(name.length + 1) : summary}`.trimEnd()
}
