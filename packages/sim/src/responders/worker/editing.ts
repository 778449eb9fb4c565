/**
 * How the worker changes files: it adds a remark above a line it has read, or updates one of its earlier remarks. It replaces only text
 * that is in view. A file never collects more than a few remarks, however long the conversation.
 */

import type { FileText, PlannedCall } from "@strata/core/offline"
import type { StepContext } from "./step.ts"
import { fullPath } from "./worker-state.ts"

const MAX_REMARKS = 2 // in the visible part of one file; then earlier ones are rewritten
const REMARK = /\bnote (\d+): /
const WORD = /\b[A-Za-z_][A-Za-z0-9_]{4,24}\b/g
const KEYWORDS = new Set(
  `return const export import function string number boolean class interface async await throw yield false undefined
   readonly extends static public private default switch break continue while other their there which about`.split(
    /\s+/,
  ),
)
const READING_WINDOW = 4000 // characters of a file in which to look for identifiers

interface SeenFile {
  readonly path: string
  readonly view: FileText
}

/** Comment syntax by file extension. Other files are left alone. */
const REMARK_STYLES: readonly { extensions: readonly string[]; open: string; close: string }[] = [
  { extensions: ["ts", "tsx", "js", "jsx", "mjs", "cjs", "go", "rs", "java", "c", "h", "cpp"], open: "// ", close: "" },
  { extensions: ["py", "rb", "sh", "yml", "yaml", "toml"], open: "# ", close: "" },
  { extensions: ["md", "html"], open: "<!-- ", close: " -->" },
  { extensions: ["css"], open: "/* ", close: " */" },
  { extensions: ["sql"], open: "-- ", close: "" },
  { extensions: ["txt"], open: "", close: "" },
]

export function extensionOf(path: string): string {
  return /\.(\w+)$/.exec(path)?.[1] ?? ""
}

export function isEditable(path: string): boolean {
  return styleOf(path) !== undefined
}

/** An edit of visible text, or `undefined` if none is possible. */
export function planEdit(context: StepContext, path: string): PlannedCall | undefined {
  const view = context.state.views.get(path)
  const change = view && (updateRemark(context, { path, view }) ?? addRemark(context, { path, view }))
  if (change === undefined) return undefined
  return context.state.toolbox.call("edit", { path: fullPath(path, context.state.root), ...change })
}

/** A word to search for: an identifier from a file in view, or a word of the task. */
export function pickWord({ state, random }: StepContext): string {
  const views = [...state.views.values()].slice(-8)
  const text = random.pick(views)?.text ?? state.task
  const start = random.between(0, Math.max(0, text.length - READING_WINDOW))
  const words = text.slice(start, start + READING_WINDOW).match(WORD) ?? []
  return random.pick(words.filter((word) => !KEYWORDS.has(word))) ?? state.task.match(WORD)?.[0] ?? "main"
}

function updateRemark(context: StepContext, { path, view }: SeenFile) {
  const remarks = view.text.split("\n").filter((line) => REMARK.test(line) && occursOnce(view.text, line))
  if (remarks.length < MAX_REMARKS && !(remarks.length > 0 && context.random.chance(0.3))) return undefined
  const old = context.random.pick(remarks)
  if (old === undefined) return undefined
  const [indent = ""] = /^\s*/.exec(old) ?? []
  return { old, new: `${indent}${writeRemark(context, { path, count: Number(REMARK.exec(old)![1]) + 1 })}` }
}

function addRemark(context: StepContext, { path, view }: SeenFile) {
  const lines = view.text.split("\n")
  const places = lines.flatMap((line, index) => {
    // Includes the line below, which makes the text unique if only a part of the file is visible.
    const place = [line, lines[index + 1]].filter((text) => text !== undefined).join("\n")
    return line.trim().length >= 8 && place.length <= 240 && occursOnce(view.text, place) ? [{ line, place }] : []
  })
  const chosen = context.random.pick(places)
  if (chosen === undefined) return undefined
  const [indent = ""] = /^\s*/.exec(chosen.line) ?? []
  return { old: chosen.place, new: `${indent}${writeRemark(context, { path, count: 1 })}\n${chosen.place}` }
}

function writeRemark(context: StepContext, { path, count }: { path: string; count: number }): string {
  const { open, close } = styleOf(path) ?? { open: "", close: "" }
  const elsewhere = context.random.pick(context.state.files) ?? path
  const remark = context.random.pick([
    `${pickWord(context)} is also used in ${elsewhere}`,
    `${pickWord(context)} and ${pickWord(context)} belong together, see ${elsewhere}`,
    `keep ${pickWord(context)} in step with ${elsewhere}`,
    `${pickWord(context)} was checked against ${elsewhere}`,
  ])
  return `${open}note ${count}: ${remark}${close}`
}

function occursOnce(text: string, part: string): boolean {
  return text.indexOf(part) === text.lastIndexOf(part)
}

function styleOf(path: string) {
  const extension = extensionOf(path)
  return REMARK_STYLES.find(({ extensions }) => extensions.includes(extension))
}
