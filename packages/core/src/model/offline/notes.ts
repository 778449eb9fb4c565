/**
 * Writes session notes: determines the content of each section, and edits the file with the offered tools. If the prompt asks for text
 * between tags, the answer contains the changed sections. If the notes cannot be edited, it contains all sections.
 */

import type { CooperativeTask } from "../../base/work.ts"
import { type Section, splitDocument } from "./document.ts"
import type { Facts } from "./facts.ts"
import { readFileText } from "./file-text.ts"
import { fillTask } from "./fill.ts"
import type { ReadRequest } from "./read-message.ts"
import type { OfflineRequest, ToolCall } from "./timeline.ts"
import { openToolbox, type PlannedCall, type Toolbox, toolRole } from "./toolbox.ts"

export type NotesStep =
  | { readonly kind: "call"; readonly calls: readonly PlannedCall[] }
  | { readonly kind: "text"; readonly text: string }

const ITALIC = /^\s*[_*][^_*\n].*[_*]\s*$/ // the line below a heading that describes the section
const BULLET = /^\s{0,6}[-*]\s/m // the user wrote what comes before the first bullet
const ASKED_TAG = /\bbetween <([a-z][\w-]*)> and <\/\1>/ // where the prompt asks for the notes as text
const MIN_SECTIONS = 3
const MAX_BODY = 6000 // characters of one section, about 1,500 tokens

/**
 * Edits the notes that the prompt shows. If it shows none, or outdated ones, reads the file first. If that does not help, answers with the
 * text of the notes.
 */
export function* takeNotes(given: {
  request: ReadRequest
  demand: OfflineRequest
  facts: Facts
}): CooperativeTask<NotesStep> {
  const { request, demand, facts } = given
  const changes = demand.calls.filter(isChange)
  if (changes.some((call) => call.result?.failed === false)) return { kind: "text", text: "The notes are up to date." }

  const toolbox = openToolbox(request)
  const path = notesPath(demand.prompt)
  const reading = demand.calls.findLast((call) => toolRole(call.name) === "read")
  const shown = reading !== undefined ? textRead(reading) : changes.length === 0 ? notesIn(demand.prompt) : undefined
  const sections = shown === undefined ? demand.sections : splitDocument(shown)
  const rewritten: { section: Section; text: string }[] = []
  for (const section of sections) {
    yield
    rewritten.push({ section, text: yield* rewriteTask(section, facts) })
  }
  const fullText = `${rewritten.map(({ text }) => text).join("\n\n")}\n`

  const tag = ASKED_TAG.exec(demand.prompt)?.[1]
  if (tag !== undefined) return { kind: "text", text: changedSections(rewritten, tag) }
  const readCall = path === undefined || shown !== undefined || reading ? undefined : toolbox.call("read", { path })
  if (readCall !== undefined) return { kind: "call", calls: [readCall] }
  const triedAll = demand.calls.at(-1) !== reading // the last attempt already used the text of the file
  if (path === undefined || triedAll) return { kind: "text", text: fullText }
  if (shown !== undefined && rewritten.every(({ section, text }) => isSame(section, text)))
    return { kind: "text", text: "Nothing to note." }
  const calls = changesTo({ toolbox, path, shown, rewritten, fullText })
  return calls.length === 0 ? { kind: "text", text: fullText } : { kind: "call", calls }
}

/** The changed sections: headings and what is below their descriptions. Descriptions stay as they are in the file. */
function changedSections(rewritten: readonly { section: Section; text: string }[], tag: string): string {
  const changed = rewritten.filter(({ section, text }) => !isSame(section, text))
  if (changed.length === 0) return "Nothing to note."
  const written = changed.map(({ section, text }) => {
    const [, ...below] = text.split("\n")
    return [section.heading, ...(isDescribed(section) ? below.slice(1) : below)].join("\n")
  })
  return `<${tag}>\n${written.join("\n\n")}\n</${tag}>`
}

function isChange(call: ToolCall): boolean {
  return ["edit", "write"].includes(toolRole(call.name))
}

/** One edit per changed section, or the entire file if only writing is possible. */
function changesTo(given: {
  toolbox: Toolbox
  path: string
  shown: string | undefined
  rewritten: readonly { section: Section; text: string }[]
  fullText: string
}): PlannedCall[] {
  const { toolbox, path, shown, rewritten, fullText } = given
  if (shown !== undefined && toolbox.offers("edit")) {
    return rewritten.flatMap(({ section, text }) => {
      return isSame(section, text) ? [] : (toolbox.call("edit", { path, old: asWritten(section), new: text }) ?? [])
    })
  }
  return [toolbox.call("write", { path, content: fullText }) ?? []].flat()
}

const asWritten = ({ heading, body }: Section) => `${heading}\n${body}`.trimEnd()

const isSame = (section: Section, text: string) => asWritten(section) === text

/** Rewrites what is below the heading and its italic description, which stay unchanged. */
function* rewriteTask(section: Section, facts: Facts): CooperativeTask<string> {
  const [first = "", ...rest] = section.body.split("\n")
  const described = ITALIC.test(first)
  const kept = { ...section, body: (described ? rest : [first, ...rest]).join("\n") }
  const entries = yield* fillTask(section.title, { ...facts, earlier: [...facts.earlier, kept] })
  const written = newestThatFit(entries).map((entry) => `- ${entry}`)
  const byHand = written.length === 0 ? kept.body.trim() : (kept.body.split(BULLET)[0]?.trim() ?? "")
  const head = [section.heading, ...(described ? [first] : []), ...(byHand === "" ? [] : [byHand])]
  return [...head, ...written].join("\n")
}

function newestThatFit(entries: readonly string[]): string[] {
  let room = MAX_BODY
  return entries
    .toReversed()
    .filter((entry) => {
      room -= entry.length
      return room >= 0
    })
    .toReversed()
}

/** Finds the notes in the prompt: inside a tag, inside a fence, or from the first described heading on. */
function notesIn(prompt: string): string | undefined {
  const wrapped = [...prompt.matchAll(/<([a-z][\w-]*)>\n?([\s\S]*?)\n?<\/\1>/g)].map((match) => match[2]!)
  const fenced = [...prompt.matchAll(/^(`{3,}|~{3,})\w*\n([\s\S]*?)\n\1$/gm)].map((match) => match[2]!)
  const start = splitDocument(prompt).find(isDescribed)
  const rest = start === undefined ? [] : [prompt.slice(prompt.indexOf(`${start.heading}\n`))]
  return [...wrapped, ...fenced, ...rest].find((text) => splitDocument(text).filter(isDescribed).length >= MIN_SECTIONS)
}

function isDescribed(section: Section): boolean {
  return ITALIC.test(section.body.split("\n")[0] ?? "")
}

function textRead(reading: ToolCall): string | undefined {
  return reading.result?.failed === false ? readFileText(reading.result.text)?.text : undefined
}

function notesPath(prompt: string): string | undefined {
  const paths = prompt.match(/[^\s`"'<>()]*\/[^\s`"'<>()]+\.md\b/g) ?? []
  return paths.find((path) => /notes|session|memory/i.test(path)) ?? paths[0]
}
