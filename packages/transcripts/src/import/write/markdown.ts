/**
 * Writes a conversation as Markdown: messages of the user and the model, and each call as one line with the start of its result. The output
 * is inert: control characters are displayed as symbols, markup outside code is escaped, and no image is loaded.
 */

import { type Block, resultState, resultText, type ToolResult } from "@strata/core"
import { escapeForTerminal, escapeToLine } from "@strata/core/base"
import { isText, isToolUse, type ToolUse, textOf } from "@strata/core/messages"
import { asObject, getString } from "../json-access.ts"
import type { ExportInput } from "./export-input.ts"
import { type ExportStep, listSteps, mergeResponses } from "./steps.ts"

// Makes Markdown of a user or a model inert: no HTML, no images that load, no invisible characters. Code keeps its characters, but only
// where every Markdown renderer agrees that it is code: a text must not end a code span that this parser recognizes.

const OPENING = /^(`{3,}(?=[^`]*$)|~{3,})/ // not indented: an indented fence can end with a list
const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*$/

export function inertMarkdown(text: string): string {
  const lines: string[] = []
  let paragraph: string[] = []
  let fence: string | undefined
  const endParagraph = () => {
    lines.push(...inertParagraph(paragraph))
    paragraph = []
  }
  for (const line of escapeForTerminal(text).trim().split("\n")) {
    if (fence !== undefined) {
      lines.push(line)
      if (CLOSING.exec(line)?.[1]?.startsWith(fence)) fence = undefined
      continue
    }
    fence = OPENING.exec(line)?.[1]
    if (fence !== undefined || line.trim() === "") {
      endParagraph()
      lines.push(line)
    } else paragraph.push(line)
  }
  endParagraph()
  return [...lines, ...(fence === undefined ? [] : [fence])].join("\n")
}

/** Escapes HTML and images, in code too. A backslash would not suffice: a preceding one disables it. */
export const inert = (text: string): string => text.replaceAll("<", "&lt;").replace(/!(?=\[)/g, "&#33;")

/**
 * Escapes a paragraph. An open code span in one line could turn the code of the next lines into text, so then nothing in the paragraph
 * counts as code.
 */
function inertParagraph(lines: readonly string[]): readonly string[] {
  const pieces = lines.map(codeIn)
  const isClear = pieces.every((piece) => piece !== undefined)
  return lines.map((line, at) => {
    const whole = isClear ? pieces[at]!.map(inertPiece).join("") : inert(line)
    return demoteHeading(whole)
  })
}

/** In a table, a bar ends the cell and the code in it. */
const inertPiece = ({ text, isCode }: LineSegment): string => (isCode && !text.includes("|") ? text : inert(text))

/** Lowers headings of the text below those of the page. */
const demoteHeading = (line: string): string =>
  line.replace(/^( {0,3})#{1,2}(?=[ \t])/, (_, space: string) => `${space}###`)

interface LineSegment {
  readonly text: string
  readonly isCode: boolean
}

/** Splits a line into text and code spans; `undefined` if a span does not end in it. */
function codeIn(line: string): readonly LineSegment[] | undefined {
  const pieces: LineSegment[] = []
  let rest = line
  for (;;) {
    const opening = /(?<!\\)`+/.exec(rest)
    if (!opening) return rest.includes("`") ? undefined : [...pieces, { text: rest, isCode: false }]
    const after = opening.index + opening[0].length
    const closing = [...rest.slice(after).matchAll(/`+/g)].find(([run]) => run.length === opening[0].length)
    if (!closing || rest.slice(0, opening.index).includes("`")) return undefined
    const end = after + closing.index + closing[0].length
    pieces.push(
      { text: rest.slice(0, opening.index), isCode: false },
      { text: rest.slice(opening.index, end), isCode: true },
    )
    rest = rest.slice(end)
  }
}

const MAX_CALL = 120 // characters of a call
const MAX_RESULT = 160 // characters of a result

/** Input fields that describe the subject of a call, by priority. */
const SUBJECTS = ["command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt", "text"]

export function markdownLines(writing: ExportInput): readonly string[] {
  const { id, title, cwd, model, messages, omitted } = writing
  const steps = mergeResponses(listSteps(messages, omitted))
  const results = new Map(steps.flatMap((step) => (step.kind === "results" ? step.results : [])).map(byCall))
  const [from, to] = [steps[0]?.at, steps.at(-1)?.at]
  const facts = [
    ["Directory", cwd],
    ["Model", model],
    ["From", from && `${from} to ${to}`],
    ["Conversation", id],
  ].flatMap(([name, value]) => (value ? [`- ${name}: ${code(value)}`] : []))
  const head = [`# ${escapeName(title ?? "A conversation")}`, "", ...facts]
  let speaker = ""
  const body = steps.flatMap((step) => {
    const lines = linesOf(step, results)
    if (lines.length === 0) return []
    const next = HEADINGS[step.kind] ?? ""
    const heading = next === speaker || next === "" ? [] : ["", `## ${next}`]
    speaker = next || speaker
    return [...heading, "", ...lines]
  })
  omitted.add("thinking", steps.flatMap(blocksOf).filter(({ type }) => type.endsWith("thinking")).length)
  omitted.add("messages that the program added for the model", steps.filter(({ kind }) => kind === "program").length)
  return [...head, ...body]
}

const HEADINGS: Readonly<Partial<Record<ExportStep["kind"], string>>> = {
  person: "You",
  answer: "Model",
  failure: "Model",
  compaction: "Summary of what came before",
}

const byCall = (result: ToolResult) => [result.tool_use_id, result] as const
const blocksOf = (step: ExportStep): readonly Block[] => ("blocks" in step ? step.blocks : [])

function linesOf(step: ExportStep, results: ReadonlyMap<string, ToolResult>): readonly string[] {
  switch (step.kind) {
    case "person":
      return [inertMarkdown(textOf(step.blocks)), ...others(step.blocks)].filter((line) => line !== "")
    case "answer":
      return step.blocks.flatMap((block) => {
        if (isText(block)) return block.text.trim() === "" ? [] : [inertMarkdown(block.text), ""]
        return isToolUse(block) ? [callLine(block, results.get(block.id))] : []
      })
    case "compaction":
      return [inertMarkdown(textOf(step.summary))]
    case "failure":
      return [inertMarkdown(step.text)]
    default:
      return []
  }
}

const others = (blocks: readonly Block[]) =>
  blocks.filter((block) => !isText(block)).map(({ type }) => `[${escapeName(type)}]`)

function callLine(call: ToolUse, result: ToolResult | undefined): string {
  const input = asObject(call.input)
  const subject = SUBJECTS.map((name) => getString(input, name)).find((text) => text !== undefined)
  const what = truncate(subject ?? JSON.stringify(call.input ?? {}), MAX_CALL)
  return `- **${escapeName(call.name)}** ${code(what)}${resultPart(result)}`
}

function resultPart(result: ToolResult | undefined): string {
  if (!result) return " (no result)"
  const text = resultText(result).trim()
  const rows = text.split("\n")
  const more = rows.length > 1 ? ` (${rows.length} lines)` : ""
  const state = resultState(result)
  const first = truncate(rows[0] ?? "", MAX_RESULT)
  return ` → ${state === "ok" ? "" : `${state}: `}${first === "" ? "nothing" : code(first)}${more}`
}

function truncate(text: string, max: number): string {
  const characters = [...escapeToLine(text)]
  return characters.length <= max ? characters.join("") : `${characters.slice(0, max - 1).join("")}…`
}

/** Escapes a name before code on the same line: a backtick in it would turn that code into markup. */
const escapeName = (text: string): string => inert(escapeToLine(text)).replaceAll("`", "&#96;")

/** Formats as code, with more backticks than any run in the text. */
function code(text: string): string {
  const line = escapeToLine(text)
  const ticks = "`".repeat(Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)) + 1)
  const space = /^`|`$|^ | $/.test(line) ? " " : ""
  return `${ticks}${space}${line}${space}${ticks}`
}
