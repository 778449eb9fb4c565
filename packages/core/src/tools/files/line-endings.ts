/** Line endings. The model sees and writes `\n`; a file keeps its own. */

export const withPlainEnds = (text: string): string => text.replaceAll("\r\n", "\n")

/** Whether most of a text's lines end in CR LF. */
function mostlyCrlf(text: string): boolean {
  const crlf = occurrences(text, "\r\n")
  return crlf > 0 && crlf * 2 >= occurrences(text, "\n")
}

/** The text with the line endings of `example`. */
export function withEndsOf(example: string, text: string): string {
  return mostlyCrlf(example) ? withPlainEnds(text).replaceAll("\n", "\r\n") : text
}

/** The lines of a text without their endings. A newline at the end does not start another line. */
export function linesOf(text: string): readonly string[] {
  if (text === "") return []
  const lines = withPlainEnds(text).split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

/** `1 line`, `12 lines`. */
export function countLines(text: string): string {
  const { length } = linesOf(text)
  return `${length} line${length === 1 ? "" : "s"}`
}

function occurrences(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}
