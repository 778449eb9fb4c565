/**
 * Markdown of a person or a model that does nothing when it is drawn: no HTML, no picture that is loaded, no invisible characters. Code
 * keeps its characters, but only where every reader of markdown sees code: a text must not end a code span that we believe in.
 */
import { visible } from "@strata/core/base"

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
