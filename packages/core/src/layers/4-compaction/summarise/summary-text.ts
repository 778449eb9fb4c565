/**
 * Step 3, summarise. Turns a summariser's answer into the text that replaces the messages. What a model quotes may hold the same tags that
 * frame its answer (transcripts, HTML with <summary> elements), and an answer may be cut anywhere. So the position of a tag decides whether
 * it frames the summary, and in doubt more is kept rather than less.
 */
import { recogniseTooLong, type TooLong } from "../../../model/too-long-patterns.ts"

export type ReadSummary =
  | { readonly kind: "summary"; readonly text: string }
  | { readonly kind: "none"; readonly why: "empty" }
  /** The answer ended before the summary began. */
  | { readonly kind: "none"; readonly why: "cut" }
  /** An error message instead of an answer; `tooLong` where it says so. */
  | { readonly kind: "none"; readonly why: "api-error"; readonly tooLong?: TooLong }

const CUT_SHORT: ReadonlySet<string> = new Set(["max_tokens", "model_context_window_exceeded", "pause_turn"])
export const CUT_MESSAGE = "the model's answer was cut off"

/** Whether an answer ended before its writer did. Half a summary would lose the rest without a trace. */
export const isCutShort = (stopReason: string | null | undefined): boolean => CUT_SHORT.has(stopReason ?? "")

/** Texts that clients and gateways return instead of an answer. Each must begin the text: a summary may mention errors too. */
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
/** A tag at the start of a line frames the summary. One in the middle of a sentence is only mentioned. */
const OPEN_AT_LINE_START = /^[ \t]*<summary>/im
const ANALYSIS_OPENS = /^\s*<analysis>/i
const ANALYSIS_AT_LINE_START = /^[ \t]*<analysis>/im
const ANALYSIS_CLOSES_LINE = /<\/analysis>[ \t]*$/im
const ANALYSIS_CLOSES = /<\/analysis>/i
const ANALYSIS_THEN_SUMMARY = /<\/analysis>\s*<summary>/i
const SECTION_HEADING = /^[ \t]{0,3}[1-9]\. \S/m

export function readSummary(answer: string): ReadSummary {
  const text = answer.trim()
  if (text === "") return { kind: "none", why: "empty" }
  if (isErrorText(text)) {
    const tooLong = recogniseTooLong(text)
    return { kind: "none", why: "api-error", ...(tooLong ? { tooLong } : {}) }
  }
  const start = startOfSummary(text)
  if (start !== undefined) {
    const body = upToClosing(text.slice(start)).trim()
    return body === "" ? { kind: "none", why: "empty" } : { kind: "summary", text: `Summary:\n${body}` }
  }
  const rest = withoutAnalysis(text)
  if (rest === undefined) return { kind: "none", why: "cut" }
  return rest === "" ? { kind: "none", why: "empty" } : { kind: "summary", text: rest }
}

function isErrorText(text: string): boolean {
  const start = text.trimStart()
  return ERROR_TEXTS.some(({ pattern }) => pattern.test(start))
}

/** Where the text after the summary's opening tag begins. `undefined` without such a tag. */
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
 * The last closing tag ends the summary. In an answer that was cut it may be a quotation: where another section follows it, or where all
 * closing tags belong to opening ones inside.
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

/** An answer without summary tags, minus its analysis; `undefined` where the analysis never ends. */
function withoutAnalysis(text: string): string | undefined {
  if (!ANALYSIS_OPENS.test(text)) return text
  const end = endOfAnalysis(text)
  return end === undefined ? undefined : text.slice(end).trim()
}

function endOfAnalysis(text: string): number | undefined {
  const close = ANALYSIS_CLOSES_LINE.exec(text) ?? ANALYSIS_CLOSES.exec(text)
  return close ? close.index + close[0].length : undefined
}
