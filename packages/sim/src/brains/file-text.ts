/**
 * A file's text as a Read tool shows it. Most put a line number in front of each line; what is edited later must be the
 * text without it.
 */

export interface FileText {
  readonly text: string
  /** The number of the first line shown. */
  readonly firstLine: number
}

const NUMBERED = /^\s*(\d+)(?:→|\t|: |\| ?)(.*)$/
const PLACEHOLDER = /^\s*[<[]/ // a result that was cleared, stored elsewhere, or replaced by a notice

/** Nothing where the result is a placeholder or empty, so that no edit is built on it. */
export function readFileText(result: string): FileText | undefined {
  const lines = result
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "")
    .trimEnd()
    .split("\n")
  const numbered = lines.map((line) => NUMBERED.exec(line))
  const first = numbered[0]
  if (first != null) {
    const shown = numbered.filter((match) => match !== null)
    return { text: shown.map((match) => match[2]!).join("\n"), firstLine: Number(first[1]) }
  }
  const text = lines.join("\n")
  return text.trim() === "" || (lines.length < 4 && PLACEHOLDER.test(text)) ? undefined : { text, firstLine: 1 }
}
