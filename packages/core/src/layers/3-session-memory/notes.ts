/**
 * Reads notes: whether they have content, a version with each section cut to a limit, and where they are stored.
 */

import { hash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { StrataError } from "../../base/errors.ts"
import { formatNumber, promptText } from "../../base/text.ts"
import type { Journal } from "../../journal/store.ts"
import { fenceAfter, withFencesClosed } from "../../messages/blocks.ts"
import { isMissing } from "../../tools/files/file-error.ts"
import type { LayerContext } from "../layer.ts"

// Notes as a text with sections: a heading, a line in italics that says what belongs there, and what was written below. People edit the
// file too, so the parser assumes nothing about its content. Joined again, the sections give the same text.

export interface NotesSection {
  readonly title: string
  /** The heading line and the description below it, if there is one. */
  readonly head: string
  /** The content of the section: everything up to the next section. */
  readonly body: string
}

export interface Notes {
  /** The text before the first section. */
  readonly opening: string
  readonly sections: readonly NotesSection[]
  /** Heading level of the sections (number of hashes). */
  readonly level: number
}

interface Heading {
  readonly line: number
  readonly level: number
  readonly title: string
  readonly isDescribed: boolean
}

const HEADING = /^(#{1,6})[ \t]+(\S.*?)[ \t]*#*[ \t]*$/
const DESCRIPTION = /^([_*])(?![_*\s]).*\1[ \t]*$/

/** `given`: level of the headings that start a section. Default: that of the first heading with a description, else the topmost level. */
export function parseNotes(text: string, given?: number): Notes {
  const lines = text.split(/(?<=\n)/)
  const all = allHeadings(lines)
  const level = given ?? levelOf(all)
  const headings = all.filter((heading) => heading.level === level) // other headings belong to the body
  const opening = lines.slice(0, headings[0]?.line ?? lines.length).join("")
  const sections = headings.map(({ line, title, isDescribed }, index) => {
    const bodyStart = line + (isDescribed ? 2 : 1)
    return {
      title,
      head: lines.slice(line, bodyStart).join(""),
      body: lines.slice(bodyStart, headings[index + 1]?.line ?? lines.length).join(""),
    }
  })
  return { opening, sections, level }
}

const levelOf = (headings: readonly Heading[]): number =>
  headings.find(({ isDescribed }) => isDescribed)?.level ?? Math.min(...headings.map(({ level }) => level))

/** A line with a hash inside a code fence is a comment, not a heading. */
function allHeadings(lines: readonly string[]): readonly Heading[] {
  const headings: Heading[] = []
  let fence: string | undefined
  lines.forEach((text, line) => {
    fence = fenceAfter(text, fence)
    const [, hashes = "", title = ""] = (fence === undefined && HEADING.exec(withoutEnd(text))) || []
    if (title === "") return
    const isDescribed = DESCRIPTION.test(withoutEnd(lines[line + 1] ?? ""))
    headings.push({ line, level: hashes.length, title, isDescribed })
  })
  return headings
}

const withoutEnd = (line: string) => line.replace(/\r?\n$/, "")

// No tokenizer averages more characters per token. Of a far larger section, only the part that may stay is measured.
const MAX_CHARACTERS_PER_TOKEN = 16
const SHORT = 10_000 // characters

/** Whether nothing is written yet: the text is the template, or has only headings and descriptions. */
export function isBareTemplate(text: string, template?: string): boolean {
  if (text.trim() === template?.trim()) return true
  const { opening, sections } = parseNotes(text)
  return opening.trim() === "" && sections.every(({ body }) => body.trim() === "")
}

export interface SectionCut {
  /** Maximum number of tokens of a section. */
  readonly limit: number
  readonly estimate: (text: string) => number
  /** Path of the file with the complete notes, if the store keeps files. */
  readonly path?: string | undefined
}

/** Cuts each section to the limit at the end of a line, with a marker that says where the rest is. Empty sections are omitted. */
export function cutSections(text: string, cut: SectionCut): string {
  const { opening, sections } = parseNotes(text)
  return [{ title: "", head: "", body: opening }, ...sections]
    .filter(({ body }) => body.trim() !== "")
    .map((section) => cutSection(section, cut))
    .join("")
}

function cutSection({ head, body }: NotesSection, cut: SectionCut): string {
  if (cut.estimate(head + body) <= cut.limit) return head + body
  const marker = `[The rest of this section ${cut.path === undefined ? "is kept with the conversation" : `is in ${cut.path}`}]\n\n`
  const room = (kept: string) => cut.estimate(head + closeFences(kept) + marker) <= cut.limit
  const near = body.slice(0, Math.max(SHORT, cut.limit * MAX_CHARACTERS_PER_TOKEN))
  const lines = near.split(/(?<=\n)/)
  const whole = lines
    .slice(
      0,
      largestCount(lines.length, (count) => room(lines.slice(0, count).join(""))),
    )
    .join("")
  // a first line that is too long on its own has no line end to cut at
  const kept = whole.trim() === "" ? startOfLine(near, room) : whole.trimEnd()
  return `${head}${closeFences(kept)}${marker}`
}

function startOfLine(body: string, room: (kept: string) => boolean): string {
  const characters = [...body.trimStart().split("\n")[0]!]
  const kept = characters.slice(
    0,
    largestCount(characters.length, (count) => room(`${characters.slice(0, count).join("")}…`)),
  )
  return kept.length === 0 ? "" : `${kept.join("")}…`
}

/** Closes a code fence that the cut left open. It would swallow everything after it. */
function closeFences(kept: string): string {
  const text = withFencesClosed(kept)
  return text === "" ? "" : `${text}\n`
}

/** The largest count up to `end` for which the predicate holds. It must hold for all smaller counts too. */
function largestCount(end: number, holds: (count: number) => boolean): number {
  let low = 0
  let high = end
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}

// How large the notes may grow. The next prompt names each section that is too large, with its size; beyond the total it is urgent.

export interface NotesLimits {
  /** Tokens of one section. */
  readonly section: number
  /** Tokens of the file. */
  readonly total: number
}

export interface NotesSizes {
  readonly total: number
  readonly sections: readonly { readonly title: string; readonly tokens: number }[]
}

export function measureNotes(text: string, estimate: (text: string) => number): NotesSizes {
  const sections = parseNotes(text).sections.map(({ title, head, body }) => ({ title, tokens: estimate(head + body) }))
  return { total: estimate(text), sections }
}

/** A reminder to condense the notes; `undefined` if everything is within its limit. */
export function sizeReminder({ total, sections }: NotesSizes, limits: NotesLimits): string | undefined {
  const isUrgent = total > limits.total
  const tooLarge = sections.filter(({ tokens }) => tokens > limits.section).sort((a, b) => b.tokens - a.tokens)
  const lines = tooLarge.map(({ title, tokens }) => `- "${title}": about ${formatNumber(tokens)} tokens`)
  if (isUrgent) {
    const named =
      lines.length > 0
        ? `\nThese sections are over ${formatNumber(limits.section)} tokens each:\n${lines.join("\n")}`
        : ""
    return (
      `URGENT: the notes have about ${formatNumber(total)} tokens, and at most ${formatNumber(limits.total)} can be used.\nCondense them in this update before you add anything: ` +
      `merge what belongs together and drop what no longer matters.\nKeep "Current State" and "Errors & Corrections" exact.${named}`
    )
  }
  if (lines.length === 0) return undefined
  return `Condense these sections in this update to less than ${formatNumber(limits.section)} tokens each, and keep what matters most:\n${lines.join("\n")}`
}

// The notes in the store. They belong to the user: they are read as they are, created from the template if they are missing, and never
// overwritten, unless they contain only what was noted on a branch that was left. All branches share one text. Every update stores a copy
// next to the journal, so that going back restores the notes of that branch. If someone has edited the text since, the edit stays.

export type NotesJournal = Pick<Journal, "location" | "notesPath" | "readNotes" | "writeNotes">

/** Reads the notes, or creates them from the template. */
export async function openNotes(journal: NotesJournal, template: string): Promise<string> {
  const current = await journal.readNotes()
  if (current !== undefined && current.trim() !== "") return current
  if (await journal.writeNotes(template, current ?? null)) return template
  const made = await journal.readNotes() // someone wrote in the same moment
  if (made !== undefined) return made
  throw new StrataError(
    `No notes were taken: those of ${journal.location} were removed while they were being created. The next update tries again.`,
    { code: "notes-file" },
  )
}

/** Describes to the user where the notes are. */
export const describeNotesLocation = (path: string | undefined): string =>
  path === undefined ? "kept with the conversation" : `in ${path}`

export type BranchNotes =
  /** This branch's notes are stored. Their owner may have edited them. */
  | { readonly state: "in-place"; readonly text: string }
  /** Another branch's unedited notes (`instead`) are stored. `text`: this branch's notes; absent if it has none. */
  | { readonly state: "kept"; readonly text?: string; readonly instead: string }
  /** Another branch's notes are stored, and someone has edited them. */
  | { readonly state: "edited" }
  /** No notes could be read. */
  | { readonly state: "none" }

/** File name of the stored copy, derived from the text: equal notes have the same name. */
export const notesCopyName = (text: string): string => `notes-${hash("sha256", text, "hex")}.md`

export async function notesOfBranch(context: LayerContext): Promise<BranchNotes> {
  const { views, journal } = context
  const text = await journal.readNotes().catch(() => undefined) // a link, a pipe, not text, no permission: it makes no difference here
  if (text === undefined) return { state: "none" }
  const { kept, inFile } = views.notes
  if (!inFile || notesCopyName(text) === kept) return { state: "in-place", text }
  if (notesCopyName(text) !== inFile.kept) return { state: "edited" }
  const own = kept === undefined ? undefined : (await journal.readBlob(kept))?.toString()
  // the name is a hash of the text, so damage is detected
  return { state: "kept", instead: text, ...(own !== undefined && notesCopyName(own) === kept ? { text: own } : {}) }
}

// The template of the notes and the prompt that asks for them. Files in the configuration directory replace the defaults. Variables are
// filled in literally: a pattern or a variable inside a value has no effect. `rendered/` shows the complete prompt.

export interface NotesTexts {
  readonly template: string
  readonly prompt: string
}

/** Reads the files on each call, so that an edit takes effect with the next update. */
export async function loadTexts(configDirectory: string | undefined): Promise<NotesTexts> {
  return {
    template: await loadText("template.md", configDirectory),
    prompt: await loadText("prompt.md", configDirectory),
  }
}

/** An empty file is treated as missing. */
async function loadText(name: "template.md" | "prompt.md", directory: string | undefined): Promise<string> {
  const text = directory === undefined ? "" : await textIfPresent(join(directory, name))
  return text.trim() === "" ? defaultText(name) : text
}

async function textIfPresent(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if (isMissing(error)) return ""
    throw error
  }
}

const DEFAULT_TEXTS = {
  "template.md": promptText(new URL("./template.md", import.meta.url)),
  "prompt.md": promptText(new URL("./prompt.md", import.meta.url)),
  "how-with-edit.md": promptText(new URL("./how-with-edit.md", import.meta.url)),
  "how-as-text.md": promptText(new URL("./how-as-text.md", import.meta.url)),
} as const

export const defaultText = (name: keyof typeof DEFAULT_TEXTS): string => DEFAULT_TEXTS[name]
