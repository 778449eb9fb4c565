/** Formats lines of a file for the model: numbered, and cut if they are very long. */

export const MAX_LINE_CHARACTERS = 2_000

const NUMBER_WIDTH = 6

/** `     1\tthe first line`, one for each line. */
export function numberLines(lines: readonly string[], first: number): readonly string[] {
  return lines.map((line, at) => `${String(first + at).padStart(NUMBER_WIDTH)}\t${shortenLine(line)}`)
}

/** Shortens a line and makes it well-formed, because half a surrogate pair would make the request invalid. */
export function shortenLine(line: string, max = MAX_LINE_CHARACTERS): string {
  if (line.length <= max) return line.toWellFormed()
  return `${line.slice(0, max).toWellFormed()}… [line cut: ${max} of ${line.length} characters shown]`
}
