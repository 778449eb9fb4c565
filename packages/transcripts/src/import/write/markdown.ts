/**
 * Writes a conversation as a page to read: what people and the model said, each call as one line with the start of its result. Nothing in
 * it acts: control characters are shown as signs, markup outside code is spelled out, and no picture is loaded.
 */

import { type Block, resultState, resultText, type ToolResult } from "@strata/core"
import { printable, visible } from "@strata/core/base"
import { isText, isToolUse, type ToolUse, textOf } from "@strata/core/messages"
import { asFields, textAt } from "../foreign-json.ts"
import { type Step, stepsOf, wholeResponses } from "./steps.ts"
import type { Writing } from "./writing.ts"

// Markdown of a person or a model that does nothing when it is drawn: no HTML, no picture that is loaded, no invisible characters. Code
// keeps its characters, but only where every reader of markdown sees code: a text must not end a code span that we believe in.

const OPENING = /^(`{3,}(?=[^`]*$)|~{3,})/ // not indented: an indented one can end with a list
const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*$/

export function inertMarkdown(text: string): string {
  const lines: string[] = []
  let paragraph: string[] = []
  let fence: string | undefined
  const endParagraph = () => {
    lines.push(...inertParagraph(paragraph))
    paragraph = []
  }
  for (const line of visible(text).trim().split("\n")) {
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

/** The text without HTML and pictures, also in code. A backslash would not do: one before it takes its effect away. */
export const inert = (text: string): string => text.replaceAll("<", "&lt;").replace(/!(?=\[)/g, "&#33;")

/** One line with an open code span could turn the code of the next ones into text: then nothing in the paragraph counts as code. */
function inertParagraph(lines: readonly string[]): readonly string[] {
  const pieces = lines.map(codeIn)
  const isClear = pieces.every((piece) => piece !== undefined)
  return lines.map((line, at) => {
    const whole = isClear ? pieces[at]!.map(inertPiece).join("") : inert(line)
    return demoted(whole)
  })
}

/** In a table, a bar ends the cell and the code in it. */
const inertPiece = ({ text, isCode }: Piece): string => (isCode && !text.includes("|") ? text : inert(text))

/** Headings of the text stay below those of the page. */
const demoted = (line: string): string => line.replace(/^( {0,3})#{1,2}(?=[ \t])/, (_, space: string) => `${space}###`)

interface Piece {
  readonly text: string
  readonly isCode: boolean
}

/** A line as text and code spans; `undefined` if a span does not end in it. */
function codeIn(line: string): readonly Piece[] | undefined {
  const pieces: Piece[] = []
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

const MAX_CALL = 120 // characters of a call on its line
const MAX_RESULT = 160 // and of its result

/** What a call is about, by the fields that tools use for it. */
const SUBJECTS = ["command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt", "text"]

export function markdownLines(writing: Writing): readonly string[] {
  const { id, title, cwd, model, messages, leftOut } = writing
  const steps = wholeResponses(stepsOf(messages, leftOut))
  const results = new Map(steps.flatMap((step) => (step.kind === "results" ? step.results : [])).map(byCall))
  const [from, to] = [steps[0]?.at, steps.at(-1)?.at]
  const facts = [
    ["Directory", cwd],
    ["Model", model],
    ["From", from && `${from} to ${to}`],
    ["Conversation", id],
  ].flatMap(([name, value]) => (value ? [`- ${name}: ${code(value)}`] : []))
  const head = [`# ${word(title ?? "A conversation")}`, "", ...facts]
  let speaker = ""
  const body = steps.flatMap((step) => {
    const lines = linesOf(step, results)
    if (lines.length === 0) return []
    const next = HEADINGS[step.kind] ?? ""
    const heading = next === speaker || next === "" ? [] : ["", `## ${next}`]
    speaker = next || speaker
    return [...heading, "", ...lines]
  })
  leftOut.add("thinking", steps.flatMap(blocksOf).filter(({ type }) => type.endsWith("thinking")).length)
  leftOut.add("messages that the program added for the model", steps.filter(({ kind }) => kind === "program").length)
  return [...head, ...body]
}

const HEADINGS: Readonly<Partial<Record<Step["kind"], string>>> = {
  person: "You",
  answer: "Model",
  failure: "Model",
  compaction: "Summary of what came before",
}

const byCall = (result: ToolResult) => [result.tool_use_id, result] as const
const blocksOf = (step: Step): readonly Block[] => ("blocks" in step ? step.blocks : [])

function linesOf(step: Step, results: ReadonlyMap<string, ToolResult>): readonly string[] {
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
  blocks.filter((block) => !isText(block)).map(({ type }) => `[${word(type)}]`)

function callLine(call: ToolUse, result: ToolResult | undefined): string {
  const input = asFields(call.input)
  const subject = SUBJECTS.map((name) => textAt(input, name)).find((text) => text !== undefined)
  const what = shortened(subject ?? JSON.stringify(call.input ?? {}), MAX_CALL)
  return `- **${word(call.name)}** ${code(what)}${resultPart(result)}`
}

function resultPart(result: ToolResult | undefined): string {
  if (!result) return " (no result)"
  const text = resultText(result).trim()
  const rows = text.split("\n")
  const more = rows.length > 1 ? ` (${rows.length} lines)` : ""
  const state = resultState(result)
  const first = shortened(rows[0] ?? "", MAX_RESULT)
  return ` → ${state === "ok" ? "" : `${state}: `}${first === "" ? "nothing" : code(first)}${more}`
}

function shortened(text: string, max: number): string {
  const characters = [...printable(text)]
  return characters.length <= max ? characters.join("") : `${characters.slice(0, max - 1).join("")}…`
}

/** A name on a line that goes on with code: a backtick in it would turn that code into markup. */
const word = (text: string): string => inert(printable(text)).replaceAll("`", "&#96;")

/** As code, in more backticks than the text has in a row. */
function code(text: string): string {
  const line = printable(text)
  const ticks = "`".repeat(Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)) + 1)
  const space = /^`|`$|^ | $/.test(line) ? " " : ""
  return `${ticks}${space}${line}${space}${ticks}`
}
