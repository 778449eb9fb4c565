/** Describes tool calls and results for all screens. */

import { resultState, resultText, type ToolResult } from "@strata/core"
import type { ResultState } from "@strata/core/messages"
import { firstLine } from "./text.ts"

export interface ResultSummary {
  readonly state: ResultState
  /** The first non-blank line. */
  readonly text: string
}

/** Beginning of Strata's own denials. */
const OWN_DENIAL = /^Not allowed: /

export function resultSummary(result: ToolResult): ResultSummary {
  const state = resultState(result)
  const text = resultText(result)
  return { state, text: firstLine(state === "denied" ? text.replace(OWN_DENIAL, "") : text) }
}

/** A tool call in a few words: its name and its summary, without repeating the name. */
export function describeCall(name: string, summary: string): string {
  const repeats = summary.toLowerCase().startsWith(`${name.toLowerCase()} `)
  return `${name} ${repeats ? summary.slice(name.length + 1) : summary}`.trimEnd()
}
