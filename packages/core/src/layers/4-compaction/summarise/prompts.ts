/**
 * The texts that ask for a summary (L4-11, L4-16): markdown files in `prompts/`, read once, with values put in. A value is only ever
 * text: whatever stands in it, `$&` or `{{range}}`, arrives as it is.
 */
import { readFileSync } from "node:fs"

/** Which messages are summarised: all, those from one on (what is before stays), or those up to one (what follows stays). */
export type SummaryKind = "all" | "from" | "up-to"

export interface SummaryPromptOptions {
  readonly kind: SummaryKind
  /** Appended in this order: the user's first, those of hooks after. */
  readonly instructions: readonly string[]
  /** With `from`, where earlier messages are sent too: how the first message to be summarised begins. */
  readonly startsWith?: string
  /** Words there is room for in the answer, where they are few. */
  readonly words?: number | undefined
  /** Where the messages are one part of a conversation that is summarised in several. */
  readonly part?: { readonly number: number; readonly of: number }
}

const read = (name: string) => readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), "utf8").trimEnd()

const templates = new Map<string, string>()

/** A prompt file with values in its `{{places}}`; a place without a value stays as it is. */
export function fillPrompt(name: string, values: Readonly<Record<string, string>> = {}): string {
  const template = templates.get(name) ?? read(name)
  templates.set(name, template)
  // one pass, and a function as the replacement: neither places nor patterns inside a value have a meaning
  return template.replace(/\{\{(\w+)\}\}/g, (place, key: string) => values[key] ?? place)
}

export function summaryPrompt({ kind, instructions, startsWith, words, part }: SummaryPromptOptions): string {
  const range = rangeOf(kind, startsWith)
  return fillPrompt("summary", {
    range: part ? `${fillPrompt("part", { part: `${part.number}`, parts: `${part.of}` })}\n${range}` : range,
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
  return fillPrompt("merge", {
    parts: `${parts}`,
    range: rangeOf(kind, undefined),
    sections: sectionsOf(kind),
    room: roomOf(words),
    instructions: instructionsOf(instructions),
  })
}

/** What is added after an answer that ended before its summary began. */
export const noRoomNote = (): string => fillPrompt("no-room")

/** The system prompt of a summariser that is called directly. */
export const directSystemPrompt = (): string => fillPrompt("system")

function rangeOf(kind: SummaryKind, startsWith: string | undefined): string {
  if (kind !== "from") return fillPrompt(`range-${kind}`)
  const start = startsWith?.trim() ? `\n${fillPrompt("range-start", { words: quoted(startsWith) })}` : ""
  return fillPrompt("range-from", { start })
}

const sectionsOf = (kind: SummaryKind) =>
  fillPrompt("sections", { end: fillPrompt(kind === "up-to" ? "end-completed" : "end-current") })

const roomOf = (words: number | undefined) =>
  words === undefined ? "" : `\n${fillPrompt("room", { words: words.toLocaleString("en-US") })}`

function instructionsOf(instructions: readonly string[]): string {
  const given = instructions.map((each) => each.trim()).filter((each) => each !== "")
  return given.length === 0 ? "" : `${fillPrompt("instructions", { instructions: given.join("\n\n") })}\n`
}

const LONGEST_START = 300 // characters; enough to find a message by

const quoted = (text: string) => JSON.stringify(text.trim().slice(0, LONGEST_START).toWellFormed())
