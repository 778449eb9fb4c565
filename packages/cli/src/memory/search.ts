/** `strata memory search`: memories first, then passages of past conversations. Works offline. */
import type { FoundInProject } from "@strata/core"
import { ageOf } from "../display/numbers.ts"
import { firstLine, indented } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import { type Look, memoryRows } from "./page.ts"

/** Characters of a passage that are shown before what matched. */
const BEFORE_MATCH = 30

export function searchPage({ memories, passages }: FoundInProject, look: Look): readonly string[] {
  const { style, columns, now } = look
  if (memories.length + passages.length === 0) return ["Nothing in this project's memory or conversations fits."]
  const found = memories.map(({ memory }) => memory)
  const said = passages.flatMap(({ conversation, speaker, time, text, at }) => [
    `  ${conversation.slice(0, 8)}  ${speaker === "user" ? "you" : "the agent"}, ${ageOf(time, now)}`,
    ...indented([style.dim(firstLine(printable(lineAt(text, at)), columns - 6))], 6),
  ])
  return [
    ...(found.length === 0 ? [] : [style.bold("Memories"), ...memoryRows(found, look)]),
    ...(found.length === 0 || said.length === 0 ? [] : [""]),
    ...(said.length === 0 ? [] : [style.bold("Past conversations"), ...said]),
  ]
}

/** The line with what matched, from a little before it. */
function lineAt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1
  if (at - start <= BEFORE_MATCH) return text.slice(start)
  const space = text.indexOf(" ", at - BEFORE_MATCH)
  return `… ${text.slice(space < 0 || space > at ? at : space + 1)}`
}
