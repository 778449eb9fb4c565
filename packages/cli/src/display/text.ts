/** Measures, truncates, pads and wraps text for a terminal. Widths are screen columns. */
import { stripVTControlCharacters } from "node:util"

const ELLIPSIS = "…"
let segmenter: Intl.Segmenter | undefined

/** The segmenter is created on first use, because creating it takes a third of the start time. */
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter()
  return segmenter.segment(text)
}

/** Emoji and East Asian scripts, which are two columns wide. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u
const PLAIN = /^[\x20-\x7e]*$/
const LINE_COLUMNS = 120
const MAX_LETTER = 20 // maximum characters of one emoji; limits the work for long lines

export function widthOf(text: string): number {
  const bare = stripVTControlCharacters(text)
  if (PLAIN.test(bare)) return bare.length
  let width = 0
  for (const { segment } of graphemes(bare)) width += WIDE.test(segment) ? 2 : 1
  return width
}

/** Truncates the end of a text that is too long. The text must not contain colours. */
export function truncate(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${takeColumns(text, width - 1)}${ELLIPSIS}`
}

/** The first non-blank line, truncated to a number of columns. */
export function firstLine(text: string, max = LINE_COLUMNS): string {
  const line = text.split("\n").find((candidate) => candidate.trim() !== "")
  return truncate((line?.trim() ?? "").slice(0, max * MAX_LETTER), max)
}

/** Truncates the beginning of a text that is too long, for paths. */
export function truncateStart(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const letters = [...graphemes(text)].map(({ segment }) => segment)
  while (letters.length > 0 && widthOf(letters.join("")) > width - 1) letters.shift()
  return `${ELLIPSIS}${letters.join("")}`
}

function takeColumns(text: string, width: number): string {
  let used = 0
  let result = ""
  for (const { segment } of graphemes(text)) {
    used += WIDE.test(segment) ? 2 : 1
    if (used > width) break
    result += segment
  }
  return result
}

export const padEnd = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)))
export const padStart = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text))) + text

/** Wraps at spaces. A word longer than a line gets its own line. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return line === "" ? lines : [...lines, line]
}

export const indent = (lines: readonly string[], columns: number): string[] =>
  lines.map((line) => (line === "" ? "" : " ".repeat(columns) + line))
