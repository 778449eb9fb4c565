/**
 * The texts that ask for a summary: markdown files in `prompts/` with values filled in. A value is only ever text: `$&` or `{{range}}`
 * inside a value arrives as it is. `prompts/rendered/` shows the whole prompts.
 */
import { grouped } from "../../../base/grouped.ts"
import { promptText } from "../../../base/prompt-file.ts"

/** Which messages are summarised: all, those from one on (earlier ones stay), or those up to one (later ones stay). */
export type SummaryKind = "all" | "from" | "up-to"

export interface SummaryPromptOptions {
  readonly kind: SummaryKind
  /** Added in this order: the user's first, then those of hooks. */
  readonly instructions: readonly string[]
  /** With `from`, where earlier messages are sent too: how the first message to summarise begins. */
  readonly startsWith?: string
  /** How many words the answer has room for, where they are few. */
  readonly words?: number | undefined
  /** Where the messages are one part of a conversation that is summarised in several. */
  readonly part?: { readonly number: number; readonly of: number }
}

const LONGEST_START = 300 // characters; enough to find a message by

const SUMMARY = promptText(new URL("./prompts/summary.md", import.meta.url)).trimEnd()
const MERGE = promptText(new URL("./prompts/merge.md", import.meta.url)).trimEnd()
const SECTIONS = promptText(new URL("./prompts/sections.md", import.meta.url)).trimEnd()
const SYSTEM = promptText(new URL("./prompts/system.md", import.meta.url)).trimEnd()
const VARIANTS = textsIn(promptText(new URL("./prompts/variants.md", import.meta.url)))

/** The texts of a file in which a comment names each of them. */
export function textsIn(file: string): ReadonlyMap<string, string> {
  const pieces = file.split(/^<!-- (.+) -->\n/m).slice(1)
  return new Map(pieces.flatMap((name, at) => (at % 2 === 0 ? [[name, pieces[at + 1]!.trim()] as const] : [])))
}

/** A text with values in its `{{places}}`. A place without a value stays as it is. */
export function fillPrompt(template: string, values: Readonly<Record<string, string>>): string {
  // one pass, and a function as the replacement: neither places nor patterns inside a value have a meaning
  return template.replace(/\{\{(\w+)\}\}/g, (place, key: string) => values[key] ?? place)
}

const variant = (name: string, values: Readonly<Record<string, string>> = {}) => fillPrompt(VARIANTS.get(name)!, values)

export function summaryPrompt({ kind, instructions, startsWith, words, part }: SummaryPromptOptions): string {
  const range = rangeOf(kind, startsWith)
  return fillPrompt(SUMMARY, {
    range: part ? `${variant("part", { part: `${part.number}`, parts: `${part.of}` })}\n${range}` : range,
    sections: sectionsOf(kind),
    room: roomOf(words),
    instructions: instructionsOf(instructions),
  })
}

export interface MergePromptOptions extends Pick<SummaryPromptOptions, "kind" | "instructions" | "words"> {
  readonly parts: number
}

/** Asks for one summary out of the summaries of parts. */
export function mergePrompt({ kind, instructions, words, parts }: MergePromptOptions): string {
  return fillPrompt(MERGE, {
    parts: `${parts}`,
    range: rangeOf(kind, undefined),
    sections: sectionsOf(kind),
    room: roomOf(words),
    instructions: instructionsOf(instructions),
  })
}

/** What is added after an answer that ended before its summary began. */
export const noRoomNote = (): string => variant("no room")

/** The system prompt of a summariser that is called directly. */
export const directSystemPrompt = (): string => SYSTEM

function rangeOf(kind: SummaryKind, startsWith: string | undefined): string {
  const range = variant(`range: ${kind}`)
  if (kind !== "from" || !startsWith?.trim()) return range
  return `${range}\n${variant("range: starts with", { start: quoted(startsWith) })}`
}

const sectionsOf = (kind: SummaryKind) =>
  fillPrompt(SECTIONS, { end: variant(`sections 8 and 9: ${kind === "up-to" ? "completed" : "current"}`) })

const roomOf = (words: number | undefined) =>
  words === undefined ? "" : `\n${variant("room", { words: grouped(words) })}`

function instructionsOf(instructions: readonly string[]): string {
  const given = instructions.map((each) => each.trim()).filter((each) => each !== "")
  return given.length === 0 ? "" : `\n${variant("instructions", { instructions: given.join("\n\n") })}\n`
}

const quoted = (text: string) => JSON.stringify(text.trim().slice(0, LONGEST_START).toWellFormed())
