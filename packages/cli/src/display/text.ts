/** Text for a terminal: made harmless, cut to a width, filled up to one, wrapped. Widths are columns on the screen. */
import { stripVTControlCharacters } from "node:util"

const ELLIPSIS = "…"
const graphemes = new Intl.Segmenter()
/** What takes two columns: emoji and the scripts of East Asia. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u
/** Also those that turn the direction of writing: with them a path can look like another one. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}]+/gu
const PLAIN = /^[\x20-\x7e]*$/

/** One line without control characters: what comes out of a transcript must not steer the terminal. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROLS, " ")
}

export function widthOf(text: string): number {
  const bare = stripVTControlCharacters(text)
  if (PLAIN.test(bare)) return bare.length
  let width = 0
  for (const { segment } of graphemes.segment(bare)) width += WIDE.test(segment) ? 2 : 1
  return width
}

/** The beginning of a text without colours, if it is too long. */
export function fitted(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${taken(text, width - 1)}${ELLIPSIS}`
}

/** The end of it: of a path the end says most. */
export function fittedAtEnd(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const letters = [...graphemes.segment(text)].map(({ segment }) => segment)
  while (letters.length > 0 && widthOf(letters.join("")) > width - 1) letters.shift()
  return `${ELLIPSIS}${letters.join("")}`
}

function taken(text: string, width: number): string {
  let used = 0
  let result = ""
  for (const { segment } of graphemes.segment(text)) {
    used += WIDE.test(segment) ? 2 : 1
    if (used > width) break
    result += segment
  }
  return result
}

export const padEnd = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)))
export const padStart = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text))) + text

/** Breaks at spaces; a word that is longer than a line stands alone. */
export function wrapped(text: string, width: number): string[] {
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

export const indented = (lines: readonly string[], columns: number): string[] =>
  lines.map((line) => (line === "" ? "" : " ".repeat(columns) + line))
