/**
 * Step 3, summarise. The texts that ask for a summary: markdown files in `prompts/` with values filled in. A value is only ever text: `$&`
 * or `{{range}}` inside a value arrives as it is. `prompts/rendered/` shows the whole prompts.
 */
import { grouped } from "../../../base/grouped.ts"
import { fillPrompt, promptText } from "../../../base/prompt-file.ts"
import { handleOf } from "../../../messages/handles.ts"
import type { Uuid } from "../../../messages/messages.ts"

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
  /** Facts from the journal and the newest messages follow the summary: only their meaning is asked for. */
  readonly record?: boolean
  /** What tools had said in results that were cleared since. */
  readonly cleared?: string
  /** Where the messages are one part of a conversation that is summarised in several. */
  readonly part?: { readonly number: number; readonly of: number }
}

const LONGEST_START = 300 // characters; enough to find a message by

const SUMMARY = promptText(new URL("./prompts/summary.md", import.meta.url)).trimEnd()
const MERGE = promptText(new URL("./prompts/merge.md", import.meta.url)).trimEnd()
const SECTIONS = promptText(new URL("./prompts/sections.md", import.meta.url)).trimEnd()
const SUMMARY_OF_MEANING = promptText(new URL("./prompts/summary-meaning.md", import.meta.url)).trimEnd()
const SECTIONS_OF_MEANING = promptText(new URL("./prompts/sections-meaning.md", import.meta.url)).trimEnd()
const SYSTEM = promptText(new URL("./prompts/system.md", import.meta.url)).trimEnd()
const VARIANTS = textsIn(promptText(new URL("./prompts/variants.md", import.meta.url)))

/** The texts of a file in which a comment names each of them. */
function textsIn(file: string): ReadonlyMap<string, string> {
  const pieces = file.split(/^<!-- (.+) -->\n/m).slice(1)
  return new Map(pieces.flatMap((name, at) => (at % 2 === 0 ? [[name, pieces[at + 1]!.trim()] as const] : [])))
}

const variant = (name: string, values: Readonly<Record<string, string>> = {}) => fillPrompt(VARIANTS.get(name)!, values)

export function summaryPrompt(options: SummaryPromptOptions): string {
  const { kind, instructions, startsWith, words, part, record = false, cleared = "" } = options
  const range = rangeOf(kind, startsWith)
  return fillPrompt(record ? SUMMARY_OF_MEANING : SUMMARY, {
    range: part ? `${variant("part", { part: `${part.number}`, parts: `${part.of}` })}\n${range}` : range,
    record: variant("record"),
    sections: sectionsOf(kind, record),
    room: roomOf(words, record),
    cleared: cleared === "" ? "" : `\n${variant("cleared", { cleared })}\n`,
    instructions: instructionsOf(instructions),
  })
}

interface MergePromptOptions extends Pick<SummaryPromptOptions, "kind" | "instructions" | "words" | "record"> {
  readonly parts: number
}

/** Asks for one summary out of the summaries of parts. */
export function mergePrompt({ kind, instructions, words, parts, record = false }: MergePromptOptions): string {
  return fillPrompt(MERGE, {
    parts: `${parts}`,
    range: rangeOf(kind, undefined),
    record: record ? `\n${variant("record")}\n` : "",
    sections: sectionsOf(kind, record),
    room: roomOf(words, record),
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

function sectionsOf(kind: SummaryKind, record: boolean): string {
  const last = kind === "up-to" ? "completed" : record ? "current, with the record" : "current"
  return fillPrompt(record ? SECTIONS_OF_MEANING : SECTIONS, { end: variant(`sections 8 and 9: ${last}`) })
}

const roomOf = (words: number | undefined, record: boolean) =>
  words === undefined ? "" : `\n${variant(record ? "aim" : "room", { words: grouped(words) })}`

function instructionsOf(instructions: readonly string[]): string {
  const given = instructions.map((each) => each.trim()).filter((each) => each !== "")
  return given.length === 0 ? "" : `\n${variant("instructions", { instructions: given.join("\n\n") })}\n`
}

const quoted = (text: string) => JSON.stringify(text.trim().slice(0, LONGEST_START).toWellFormed())

export interface Continuation {
  /** Or what the check found, where the summary is signed and comes first. */
  readonly summary: string
  /** The summary comes first, by itself. */
  readonly isSigned?: boolean
  /** Where the whole conversation can be read; absent where the store keeps no files. */
  readonly transcriptPath?: string | undefined
  /** What started the compaction, and whether a person is there to answer. */
  readonly mode: "automatic" | "autonomous" | "by-hand"
  /** The first and the last message that the summary replaces. */
  readonly replaced?: { readonly first: Uuid; readonly last: Uuid } | undefined
  /** The tool that returns messages by handle, if the model has one. */
  readonly recall?: string | undefined
  /** Messages follow that were not summarised. */
  readonly keptMessages: boolean
}

const GOING_ON = { automatic: "go on", autonomous: "go on alone" } as const
const TEXTS = textsIn(promptText(new URL("./prompts/continuation.md", import.meta.url)))

const text = (name: string, values: Readonly<Record<string, string>> = {}) => fillPrompt(TEXTS.get(name)!, values)

/** The text around a summary that replaces messages: where it comes from, where the rest is, and how to go on. */
export function continuationText(continuation: Continuation): string {
  const { summary, transcriptPath, mode, replaced, recall, keptMessages, isSigned } = continuation
  return [
    text(isSigned ? "continued" : summary === "" ? "continues without a summary" : "continues"),
    summary,
    replaced ? rangeText(replaced, recall) : "",
    transcriptPath ? text("transcript", { path: transcriptPath }) : "",
    keptMessages && !isSigned ? text("kept") : "",
    mode === "by-hand" ? "" : text(GOING_ON[mode]),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

const rangeText = ({ first, last }: { readonly first: Uuid; readonly last: Uuid }, tool: string | undefined): string =>
  [
    text("replaced", { first: handleOf(first), last: handleOf(last) }),
    ...(tool === undefined ? [] : [text("recall", { tool })]),
  ].join(" ")
