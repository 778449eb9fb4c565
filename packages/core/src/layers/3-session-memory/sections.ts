/**
 * Notes as a text with sections: a heading, a line in italics that says what belongs there, and what was written below. People edit the
 * file too, so the parser assumes nothing about its content. Joined again, the sections give the same text.
 */
import { fenceAfter } from "../../messages/fences.ts"

export interface NotesSection {
  readonly title: string
  /** The heading line and, below it, the description where there is one. */
  readonly head: string
  /** What was written: everything below, up to the next section. */
  readonly body: string
}

export interface Notes {
  /** The text before the first section. */
  readonly opening: string
  readonly sections: readonly NotesSection[]
  /** How many hashes the headings of sections have. */
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

/** `given`: the level of the headings that begin a section. Default: that of the first heading with a description, else the topmost. */
export function parseNotes(text: string, given?: number): Notes {
  const lines = text.split(/(?<=\n)/)
  const all = allHeadings(lines)
  const level = given ?? levelOf(all)
  const headings = all.filter((heading) => heading.level === level) // others belong to the body
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
