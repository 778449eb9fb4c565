/**
 * Line endings. The model reads and writes `
 * `; a file keeps its own line endings.
 */

export const normalizeLineEndings = (text: string): string => text.replaceAll("\r\n", "\n")

/** Whether most of a text's lines end in CR LF. */
function mostlyCrlf(text: string): boolean {
  const crlf = occurrences(text, "\r\n")
  return crlf > 0 && crlf * 2 >= occurrences(text, "\n")
}

/** Converts a text to the line endings of `example`. */
export function matchLineEndings(example: string, text: string): string {
  return mostlyCrlf(example) ? normalizeLineEndings(text).replaceAll("\n", "\r\n") : text
}

/** Splits a text into lines without their endings. A trailing newline does not start another line. */
export function linesOf(text: string): readonly string[] {
  if (text === "") return []
  const lines = normalizeLineEndings(text).split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

/** Formats the number of lines: `1 line`, `12 lines`. */
export function countLines(text: string): string {
  const { length } = linesOf(text)
  return `${length} line${length === 1 ? "" : "s"}`
}

function occurrences(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}
