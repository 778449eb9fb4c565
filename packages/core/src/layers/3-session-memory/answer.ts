/**
 * Notes that a fork gives as text: the sections that change, between two tags. Only what is below a heading is taken, so an answer cannot
 * change a heading, add a section or remove one. Anything that does not fit is refused as a whole.
 */
import { fenceLeftOpen } from "../../messages/fences.ts"
import { measureNotes, type NotesLimits } from "./limits.ts"
import { isBareTemplate } from "./notes.ts"
import { type Notes, type NotesSection, parseNotes } from "./sections.ts"

/** What each changed section should say, by title. */
export type Changes = ReadonlyMap<string, string>

export type Refused = { readonly state: "refused"; readonly why: string }

const ANSWER = /^<new_notes>[ \t]*\r?\n([\s\S]*)^<\/new_notes>[ \t]*$/m
// Up to the limit itself the next prompt asks to condense. An answer far beyond it is not notes.
const MOST_OVER_LIMIT = 2

/** Reads an answer to a prompt that showed these notes. */
export function readChanges(
  answer: string,
  shown: string,
): { readonly state: "changes"; readonly changes: Changes } | Refused {
  const given = ANSWER.exec(answer)?.[1]
  if (given === undefined) return refused("the answer has no notes between <new_notes> and </new_notes>")
  const current = parseNotes(shown)
  const { opening, sections } = parseNotes(given, current.level)
  if (sections.length === 0) return refused("the answer names no section")
  if (opening.trim() !== "") return refused("the answer has text before the first heading")
  const changes = new Map<string, string>()
  for (const section of sections) {
    const known = sectionOf(current, section.title)
    if (!known) return refused(`the answer has a section that the notes do not have: "${section.title}"`)
    if (changes.has(section.title)) return refused(`the answer has the section "${section.title}" twice`)
    const body = bodyOf(section, known)
    if (leavesFenceOpen(body)) return refused(`a code block in "${section.title}" is not closed`)
    changes.set(section.title, body)
  }
  return { state: "changes", changes }
}

export interface NotesChange {
  readonly changes: Changes
  /** The notes that the fork has seen. */
  readonly shown: string
  /** The notes as they are now. Their owner may have edited them. */
  readonly current: string
  readonly limits: NotesLimits
  readonly estimate: (text: string) => number
}

/** The new notes. What someone changed in the meantime stays; a section that both changed is refused. */
export function applyChanges({
  changes,
  shown,
  current,
  limits,
  estimate,
}: NotesChange): { readonly state: "applied"; readonly text: string } | Refused {
  const before = parseNotes(shown)
  const now = parseNotes(current, before.level)
  for (const title of changes.keys()) {
    const isUntouched = sectionOf(now, title)?.body.trim() === sectionOf(before, title)?.body.trim()
    if (!isUntouched) return refused(`the section "${title}" was changed in the meantime`)
  }
  const text = now.opening + now.sections.map((section, index) => replaced(section, index, now, changes)).join("")
  if (isBareTemplate(text)) return refused("the answer leaves every section empty")
  const { total, sections } = measureNotes(text, estimate)
  const tooLarge = sections.find(({ title, tokens }) => changes.has(title) && tokens > MOST_OVER_LIMIT * limits.section)
  if (tooLarge) return refused(`the section "${tooLarge.title}" is more than twice as long as it may be`)
  if (total > MOST_OVER_LIMIT * limits.total && text.length > current.length)
    return refused("the notes are more than twice as long as they may be")
  return { state: "applied", text }
}

function replaced(section: NotesSection, index: number, { sections }: Notes, changes: Changes): string {
  const body = changes.get(section.title)
  if (body === undefined) return section.head + section.body
  const head = section.head.endsWith("\n") ? section.head : `${section.head}\n`
  const isLast = index === sections.length - 1
  return `${head}${body === "" ? "" : `${body}\n`}${isLast ? "" : "\n"}`
}

/** The line in italics below a heading is the file's. Another line in italics is something the fork wrote. */
function bodyOf({ head, body }: NotesSection, known: NotesSection): string {
  const [, line = ""] = head.split("\n")
  const isDescription = line.trim() === (known.head.split("\n")[1] ?? "").trim()
  return (isDescription ? body : `${line}\n${body}`).trim()
}

/** Of two sections with one title, none is meant for sure. */
function sectionOf({ sections }: Notes, title: string): NotesSection | undefined {
  const found = sections.filter((section) => section.title === title)
  return found.length === 1 ? found[0] : undefined
}

const leavesFenceOpen = (body: string) => fenceLeftOpen(body) !== undefined

const refused = (why: string): Refused => ({ state: "refused", why })
