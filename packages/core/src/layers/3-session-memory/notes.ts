/**
 * Reads notes: whether anything is written in them, and a form with each section cut to a limit. What is cut is still in them.
 */
import { withFencesClosed } from "../../messages/fences.ts"
import { type NotesSection, parseNotes } from "./sections.ts"

// No tokenizer averages more characters per token. Of a far larger section, only the part that may stay is measured.
const MOST_CHARACTERS_PER_TOKEN = 16
const SHORT = 10_000 // characters

/** Nothing is written yet: it is the template, or any text with only headings and descriptions. */
export function isBareTemplate(text: string, template?: string): boolean {
  if (text.trim() === template?.trim()) return true
  const { opening, sections } = parseNotes(text)
  return opening.trim() === "" && sections.every(({ body }) => body.trim() === "")
}

export interface SectionCut {
  /** Tokens that a section may have. */
  readonly limit: number
  readonly estimate: (text: string) => number
  /** The file that holds all of it, if the store keeps files. */
  readonly path?: string | undefined
}

/** Each section cut to the limit, at the end of a line, with a marker that says where the rest is. Empty ones are left out. */
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
  const room = (kept: string) => cut.estimate(head + closed(kept) + marker) <= cut.limit
  const near = body.slice(0, Math.max(SHORT, cut.limit * MOST_CHARACTERS_PER_TOKEN))
  const lines = near.split(/(?<=\n)/)
  const whole = lines
    .slice(
      0,
      most(lines.length, (count) => room(lines.slice(0, count).join(""))),
    )
    .join("")
  // a first line that is too long on its own has no line end to cut at
  const kept = whole.trim() === "" ? startOf(near, room) : whole.trimEnd()
  return `${head}${closed(kept)}${marker}`
}

function startOf(body: string, room: (kept: string) => boolean): string {
  const characters = [...body.trimStart().split("\n")[0]!]
  const kept = characters.slice(
    0,
    most(characters.length, (count) => room(`${characters.slice(0, count).join("")}…`)),
  )
  return kept.length === 0 ? "" : `${kept.join("")}…`
}

/** A code fence that the cut left open would swallow everything after it. */
function closed(kept: string): string {
  const text = withFencesClosed(kept)
  return text === "" ? "" : `${text}\n`
}

/** The largest count up to `end` for which it holds. It must hold for all smaller ones too. */
function most(end: number, holds: (count: number) => boolean): number {
  let low = 0
  let high = end
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}
