/** How calls, results and times read in one line, wherever they are shown. */
import type { ToolResult } from "@strata/core"
import { resultBlocks, textOf } from "@strata/core/parts"

const LINE_CHARACTERS = 120

export interface ResultSummary {
  readonly state: "ok" | "failed"
  /** The first line that says something. */
  readonly text: string
}

export function resultSummary(result: ToolResult): ResultSummary {
  return { state: result.is_error ? "failed" : "ok", text: firstLine(resultText(result)) }
}

/** A result as text; blocks that are none are named. */
export function resultText(result: ToolResult): string {
  const blocks = resultBlocks(result)
  const others = blocks.filter(({ type }) => type !== "text").map(({ type }) => `[${type}]`)
  return [textOf(blocks), ...others].filter(Boolean).join("\n")
}

export function firstLine(text: string, most = LINE_CHARACTERS): string {
  const line =
    text
      .split("\n")
      .find((candidate) => candidate.trim() !== "")
      ?.trim() ?? ""
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** A tool call in a few words: its name, and what it does unless that begins with the name again. */
export function callWords(name: string, summary: string): string {
  const repeats = summary.toLowerCase().startsWith(`${name.toLowerCase()} `)
  return `${name} ${repeats ? summary.slice(name.length + 1) : summary}`.trimEnd()
}

export const TITLE_CHARACTERS = 60 // of the first words, which name a conversation until somebody gives it a title

const AGES: readonly (readonly [unit: string, ms: number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
]

/** `just now`, `5 minutes ago`. */
export function timeAgo(then: Date, now: Date): string {
  const ms = now.getTime() - then.getTime()
  const age = AGES.find(([, unit]) => ms >= unit)
  if (!age) return "just now"
  const count = Math.floor(ms / age[1])
  return `${count} ${age[0]}${count === 1 ? "" : "s"} ago`
}
