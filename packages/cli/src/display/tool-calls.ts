/** How tool calls and results read on every screen. */
import type { ToolResult } from "@strata/core/internal"
import { resultBlocks, textOf } from "@strata/core/internal/messages/blocks"
import { firstLine } from "./text.ts"

export interface ResultSummary {
  readonly state: "ok" | "failed"
  /** The first line that is not blank. */
  readonly text: string
}

export function resultSummary(result: ToolResult): ResultSummary {
  return { state: result.is_error ? "failed" : "ok", text: firstLine(resultText(result)) }
}

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
