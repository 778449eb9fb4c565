/**
 * Session notes: new facts are added below the existing text of each section. Written as text between tags, with Edit, or as a complete
 * file.
 */
import {
  type OfflineRequest,
  openToolbox,
  type PlannedCall,
  readFileText,
  type Section,
  splitDocument,
  toolRole,
} from "@strata/core/offline"
import type { ResponderRequest } from "../../responder.ts"
import type { ConversationFacts } from "./conversation-facts.ts"
import { writeSection } from "./sections.ts"

/** Text to say, or calls to make. */
export type ExtractedAnswer = string | readonly PlannedCall[]

const WRAPPED = /<([a-z_]+)>\n([\s\S]*?)\n?<\/\1>/g
const ASKED_TAG = /\bbetween <([a-z][\w-]*)> and <\/\1>/
const DESCRIPTION = /^_.*_$/
const PATH = /[^\s`"'<>()]*\/[^\s`"'<>()]+\.md\b/
const MAX_LINES = 40 // in a section

export function takeNotes(given: {
  request: ResponderRequest
  demand: OfflineRequest
  known: ConversationFacts
}): ExtractedAnswer {
  const { request, demand, known } = given
  const { prompt, calls } = demand
  const edits = calls.filter(({ name }) => toolRole(name) === "edit")
  if (edits.some(({ result }) => result?.failed === false)) return "The notes are up to date."
  const path = PATH.exec(prompt)?.[0] ?? ""
  const toolbox = openToolbox(request)
  const read = calls.findLast(({ name }) => toolRole(name) === "read")
  const reading = edits.length > 0 && !read ? toolbox.call("read", { path }) : undefined
  if (reading) return [reading] // an edit failed: the file is not what the prompt shows

  const file = read?.result?.failed === false ? readFileText(read.result.text)?.text : undefined
  const sections = splitDocument(file ?? notesIn(prompt))
  const changed = sections
    .map((section) => ({ section, lines: linesFor(section, known) }))
    .filter(({ section, lines }) => lines.join("\n") !== linesOf(section).join("\n"))
  if (changed.length === 0) return "Nothing to note."
  const tag = ASKED_TAG.exec(prompt)?.[1]
  if (tag !== undefined) {
    const written = changed.map(({ section, lines }) => [section.heading, ...lines].join("\n"))
    return `<${tag}>\n${written.join("\n\n")}\n</${tag}>`
  }
  const made = changed.flatMap(({ section, lines }) => {
    const old = `${section.heading}\n${section.body}`.trimEnd()
    return toolbox.call("edit", { path, old, new: [headOf(section), ...lines].join("\n") }) ?? []
  })
  if (made.length > 0) return made
  return sections.map((section) => [headOf(section), ...linesFor(section, known)].join("\n")).join("\n\n")
}

/** The text between tags that contains sections with descriptions. */
const notesIn = (prompt: string): string =>
  [...prompt.matchAll(WRAPPED)].map(([, , text]) => text!).find((text) => splitDocument(text).some(describes)) ?? prompt

const describes = ({ body }: Section): string | undefined => DESCRIPTION.exec(body.split("\n")[0] ?? "")?.[0]

/** The heading of a section and the line that describes it. */
const headOf = (section: Section): string => [section.heading, describes(section) ?? []].flat().join("\n")

/** The lines of a section without its description. */
const linesOf = (section: Section): readonly string[] =>
  section.body
    .split("\n")
    .slice(describes(section) === undefined ? 0 : 1)
    .filter((line) => line.trim() !== "")

const linesFor = (section: Section, known: ConversationFacts): readonly string[] =>
  [...new Set([...linesOf(section), ...writeSection(section.title, known)])].slice(-MAX_LINES)
