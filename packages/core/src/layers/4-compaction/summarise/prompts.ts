/**
 * Step 3, summarize. The prompts that ask for a summary: markdown files in `prompts/` whose variables are filled in. A value is always
 * plain text: `$&` or `{{range}}` inside a value stays unchanged. `prompts/rendered/` shows the complete prompts.
 */
import { fillPrompt, formatNumber, promptText } from "../../../base/text.ts"
import { fenceAfter, withFencesClosed } from "../../../messages/blocks.ts"
import { handleOf } from "../../../messages/media.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { matchTooLong, type TooLongMatch } from "../../../model/too-long-patterns.ts"
import type { CompactionContext } from "../compaction-context.ts"
import { cutText, type Estimate } from "../cut.ts"
import type { Route, RouteResult } from "./route.ts"

/** The messages to summarize: all, those after a message (earlier ones stay), or those up to one (later ones stay). */
export type SummaryKind = "all" | "from" | "up-to"

export interface SummaryPromptOptions {
  readonly kind: SummaryKind
  /** Instructions, in this order: those of the user, then those of hooks. */
  readonly instructions: readonly string[]
  /** For `from`, if earlier messages are sent too: the beginning of the first message to summarize. */
  readonly startsWith?: string
  /** Number of words that the answer has room for, if that is few. */
  readonly words?: number | undefined
  /** Whether facts from the journal and the newest messages follow the summary, so that only their meaning is requested. */
  readonly record?: boolean
  /** Extracts of results that were cleared. */
  readonly cleared?: string
  /** Set if the messages are one part of a conversation that is summarized in several. */
  readonly part?: { readonly number: number; readonly of: number }
}

const MAX_START = 300 // characters; enough to find a message by

const SUMMARY = promptText(new URL("./prompts/summary.md", import.meta.url)).trimEnd()
const MERGE = promptText(new URL("./prompts/merge.md", import.meta.url)).trimEnd()
const SECTIONS = promptText(new URL("./prompts/sections.md", import.meta.url)).trimEnd()
const SUMMARY_OF_MEANING = promptText(new URL("./prompts/summary-meaning.md", import.meta.url)).trimEnd()
const SECTIONS_OF_MEANING = promptText(new URL("./prompts/sections-meaning.md", import.meta.url)).trimEnd()
const SYSTEM = promptText(new URL("./prompts/system.md", import.meta.url)).trimEnd()
const VARIANTS = textsIn(promptText(new URL("./prompts/variants.md", import.meta.url)))

/** Splits a file into texts, each named by a comment before it. */
function textsIn(file: string): ReadonlyMap<string, string> {
  const segments = file.split(/^<!-- (.+) -->\n/m).slice(1)
  return new Map(segments.flatMap((name, at) => (at % 2 === 0 ? [[name, segments[at + 1]!.trim()] as const] : [])))
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

/** The prompt that merges summaries of parts into one. */
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

/** A note for the retry after an answer that ended before its summary began. */
export const noRoomNote = (): string => variant("no room")

/** The system prompt for direct calls. */
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
  words === undefined ? "" : `\n${variant(record ? "aim" : "room", { words: formatNumber(words) })}`

function instructionsOf(instructions: readonly string[]): string {
  const filled = instructions.map((each) => each.trim()).filter((each) => each !== "")
  return filled.length === 0 ? "" : `\n${variant("instructions", { instructions: filled.join("\n\n") })}\n`
}

const quoted = (text: string) => JSON.stringify(text.trim().slice(0, MAX_START).toWellFormed())

export interface Continuation {
  /** The summary, or the findings of the check if the summary is signed and precedes this text. */
  readonly summary: string
  /** Whether a signed summary precedes this text. */
  readonly isSigned?: boolean
  /** Path of the complete conversation; absent if the store keeps no files. */
  readonly transcriptPath?: string | undefined
  /** What started the compaction, and whether a user is there to answer. */
  readonly mode: "automatic" | "autonomous" | "by-hand"
  /** The first and the last message that the summary replaces. */
  readonly replaced?: { readonly first: Uuid; readonly last: Uuid } | undefined
  /** Name of the tool that returns messages by handle, if the model has one. */
  readonly recall?: string | undefined
  /** Whether messages follow that were not summarized. */
  readonly keptMessages: boolean
}

const GOING_ON = { automatic: "go on", autonomous: "go on alone" } as const
const TEXTS = textsIn(promptText(new URL("./prompts/continuation.md", import.meta.url)))

const text = (name: string, values: Readonly<Record<string, string>> = {}) => fillPrompt(TEXTS.get(name)!, values)

/** The text around a summary that replaces messages: its origin, where the rest is, and how to continue. */
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

// Step 3, summarize. Cuts a route's summary to its budget before it is checked. Notes have their own limits, section by section.

const RETELLING = 0.5 // of the context: such a text retells the conversation, even if most of it could be cut
const LONG = 6_000 // tokens: twice a usual summary; a shorter one may be half of a short conversation

type Summary = Extract<RouteResult, { kind: "summary" }>

export function limited({ context, budgets }: CompactionContext, { name }: Route, summary: Summary): RouteResult {
  const { text, cut, responses } = summary
  const estimate = (words: string) => context.views.estimator.text(words)
  const tokens = Math.ceil(estimate(text))
  const [first, last] = [cut.summarised[0], cut.summarised.at(-1)]
  if (name === "notes" || tokens <= budgets.summary || !first || !last) return summary
  if (tokens > Math.max(LONG, context.size.tokens * RETELLING)) {
    const message = `its summary has ${formatNumber(tokens)} tokens, and the whole context ${formatNumber(context.size.tokens)}, which saves too little`
    return { kind: "failed", reason: "threshold_exceeded", message, responses }
  }
  const range = [handleOf(first.uuid), handleOf(last.uuid)] as const
  return { ...summary, text: withinBudget({ text, budget: budgets.summary, estimate, range }) }
}

interface SummaryToFit {
  readonly text: string
  /** Maximum number of tokens. */
  readonly budget: number
  readonly estimate: Estimate
  /** Handles of the first and the last message that the summary replaces. */
  readonly range: readonly [first: string, last: string]
}

/**
 * Sections by value, most valuable first: the task and the next steps stay longest, because the record has files, errors and messages as
 * data.
 */
const BY_WORTH = [1, 9, 7, 8, 5, 4, 3, 6, 2]
const SECTION = /^[ \t]{0,3}(?:#{1,6} )?(?:\*\*)?([1-9])\. \S/
const STEP = 4 // tokens
const LEFT_OUT = "[Left out: the summary was too long.]"

/**
 * Cuts a summary to its budget, or returns it unchanged. A long summary loses complete sections, first those for which the record or a
 * recall can make up. A note says what was omitted and how to get it.
 */
export function withinBudget({ text, budget, estimate, range: [first, last] }: SummaryToFit): string {
  if (estimate(text) <= budget) return text
  const note = `[The summary was too long and was cut. Messages ${first} to ${last} have what is missing.]`
  const [opening = "", ...sections] = sectionsOfOfBudget(text)
  const within = (room: number) => {
    const shown = sections.length > 1 ? mostWorth(sections, { room: room - estimate(opening), estimate }) : undefined
    const body = shown
      ? `${opening}${shown.join("")}`
      : withFencesClosed(cutText({ text, limit: Math.max(0, room), estimate }))
    return `${body.trimEnd()}\n\n${note}`
  }
  // joined pieces may take a little more than each alone
  let room = budget - estimate(`\n\n${note}`)
  let cut = within(room)
  while (estimate(cut) > budget && room > 0) {
    room -= STEP
    cut = within(room)
  }
  return cut
}

/**
 * Splits a summary into the text before the first section, and its sections. Lists and quoted text have numbers too, so sections must be
 * numbered consecutively.
 */
function sectionsOfOfBudget(text: string): readonly string[] {
  const segments: string[][] = [[]]
  let fence: string | undefined
  let next: number | undefined
  for (const line of text.split(/(?<=\n)/)) {
    const before = fence
    fence = fenceAfter(line, fence)
    const number = before === undefined && fence === undefined ? Number(SECTION.exec(line)?.[1]) : Number.NaN
    if (number === (next ?? number)) {
      segments.push([])
      next = number + 1
    }
    segments.at(-1)!.push(line)
  }
  return segments.map((lines) => lines.join(""))
}

/** Selects the most valuable sections. Every section keeps its title. The most valuable section is cut at a line end if it does not fit. */
function mostWorth(
  sections: readonly string[],
  { room, estimate }: { readonly room: number; readonly estimate: Estimate },
): readonly string[] {
  const shown = sections.map((section) => `${titleOf(section)} ${LEFT_OUT}\n`)
  let left = room - shown.reduce((sum, title) => sum + estimate(title), 0)
  const order = sections.map((section, at) => ({ at, worth: worthOf(section) })).toSorted((a, b) => a.worth - b.worth)
  for (const [nth, { at }] of order.entries()) {
    const more = estimate(sections[at]!) - estimate(shown[at]!)
    if (more <= left) shown[at] = sections[at]!
    else if (nth === 0)
      shown[at] =
        `${withFencesClosed(cutText({ text: sections[at]!, limit: Math.max(0, left), estimate }))}\n${LEFT_OUT}\n`
    else continue
    left -= more
    if (nth === 0 && left < 0) break
  }
  return shown
}

function worthOf(section: string): number {
  const rank = BY_WORTH.indexOf(Number(/[1-9]/.exec(section)?.[0]))
  return rank < 0 ? BY_WORTH.length : rank
}

const titleOf = (section: string) => /^[^:\n]*:?/.exec(section)![0]

// Step 3, summarize. Reads the summary from a model's answer. Quotes in the answer may contain the tags that frame it (transcripts, HTML
// with <summary> elements), and an answer may be cut anywhere. So the position of a tag decides whether it frames the summary, and in doubt
// more text is kept rather than less.

export type ReadSummary =
  | { readonly kind: "summary"; readonly text: string }
  | { readonly kind: "none"; readonly reason: "empty" }
  /** The answer ended before the summary began. */
  | { readonly kind: "none"; readonly reason: "cut" }
  /** An error message instead of an answer; `tooLong` is set if it says that the request was too long. */
  | { readonly kind: "none"; readonly reason: "api-error"; readonly tooLong?: TooLongMatch }

const CUT_SHORT: ReadonlySet<string> = new Set(["max_tokens", "model_context_window_exceeded", "pause_turn"])
export const CUT_MESSAGE = "the model's answer was cut off"

/** Whether an answer was cut off. Half a summary would lose the rest without a trace. */
export const isCutShort = (stopReason: string | null | undefined): boolean => CUT_SHORT.has(stopReason ?? "")

/**
 * Error texts that clients and gateways return instead of an answer. They are only recognized at the beginning, because a summary may
 * mention errors too.
 */
const ERROR_TEXTS: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  { pattern: /^API Error\s*(?:$|[:(\d])/i, reason: "how agents show a failed request in the conversation" },
  { pattern: /^Prompt is too long/i, reason: "the API's refusal, handed on as an answer" },
  { pattern: /^(?:Credit balance is too low|Invalid API key)/i, reason: "accounts and keys, as agents word them" },
  { pattern: /^(?:Request timed out|Connection error)\.?$/i, reason: "an SDK's own words; nothing else in the text" },
  { pattern: /^\{\s*"(?:type"\s*:\s*"error"|error"\s*:)/, reason: "the body of an error, unparsed" },
  { pattern: /^(?:Error: )?\d{3} \{\s*"(?:type|error)"/, reason: "an SDK's error as a string: status and body" },
]

const OPEN = /<summary>/gi
const CLOSE = /<\/summary>/gi
/** An opening tag at the start of a line, which frames the summary. One in the middle of a sentence is only mentioned. */
const OPEN_AT_LINE_START = /^[ \t]*<summary>/im
const ANALYSIS_OPENS = /^\s*<analysis>/i
const ANALYSIS_AT_LINE_START = /^[ \t]*<analysis>/im
const ANALYSIS_CLOSES_LINE = /<\/analysis>[ \t]*$/im
const ANALYSIS_CLOSES = /<\/analysis>/i
const ANALYSIS_THEN_SUMMARY = /<\/analysis>\s*<summary>/i
const SECTION_HEADING = /^[ \t]{0,3}[1-9]\. \S/m

export function readSummary(answer: string): ReadSummary {
  const text = answer.trim()
  if (text === "") return { kind: "none", reason: "empty" }
  if (isErrorText(text)) {
    const tooLong = matchTooLong(text)
    return { kind: "none", reason: "api-error", ...(tooLong ? { tooLong } : {}) }
  }
  const start = startOfSummary(text)
  if (start !== undefined) {
    const body = upToClosing(text.slice(start)).trim()
    return body === "" ? { kind: "none", reason: "empty" } : { kind: "summary", text: `Summary:\n${body}` }
  }
  const rest = withoutAnalysis(text)
  if (rest === undefined) return { kind: "none", reason: "cut" }
  return rest === "" ? { kind: "none", reason: "empty" } : { kind: "summary", text: rest }
}

function isErrorText(text: string): boolean {
  const start = text.trimStart()
  return ERROR_TEXTS.some(({ pattern }) => pattern.test(start))
}

/** Index after the opening tag of the summary; `undefined` without such a tag. */
function startOfSummary(text: string): number | undefined {
  const analysis = text.search(ANALYSIS_AT_LINE_START)
  const hasAnalysis = analysis >= 0 && analysis < indexOrEnd(text, OPEN)
  const between = hasAnalysis ? ANALYSIS_THEN_SUMMARY.exec(text) : null
  if (between) return between.index + between[0].length
  const closed = hasAnalysis ? endOfAnalysis(text) : 0
  // in an analysis that never ends, a summary begins only at a tag that starts a line
  const from = closed ?? 0
  const atLine = OPEN_AT_LINE_START.exec(text.slice(from))
  if (atLine) return from + atLine.index + atLine[0].length
  if (closed === undefined) return undefined
  OPEN.lastIndex = from
  const anywhere = OPEN.exec(text)
  OPEN.lastIndex = 0
  return anywhere === null ? undefined : anywhere.index + anywhere[0].length
}

const indexOrEnd = (text: string, pattern: RegExp) => {
  const at = text.search(pattern)
  return at < 0 ? text.length : at
}

/**
 * The text up to the closing tag. The last closing tag ends the summary. In an answer that was cut off it may be a quotation: if another
 * section follows it, or if all closing tags belong to opening ones inside.
 */
function upToClosing(text: string): string {
  const closings = [...text.matchAll(CLOSE)]
  const last = closings.at(-1)
  if (!last) return text
  const before = text.slice(0, last.index)
  const after = text.slice(last.index + last[0].length)
  if (after.trim() === "") return before
  const inside = text.match(OPEN)?.length ?? 0
  return closings.length <= inside || SECTION_HEADING.test(after) ? text : before
}

/** An answer without summary tags, minus its analysis; `undefined` if the analysis never ends. */
function withoutAnalysis(text: string): string | undefined {
  if (!ANALYSIS_OPENS.test(text)) return text
  const end = endOfAnalysis(text)
  return end === undefined ? undefined : text.slice(end).trim()
}

function endOfAnalysis(text: string): number | undefined {
  const close = ANALYSIS_CLOSES_LINE.exec(text) ?? ANALYSIS_CLOSES.exec(text)
  return close ? close.index + close[0].length : undefined
}
