/** Extracts a file's text from the output of a Read tool. Most tools number the lines; edits need the text without numbers. */

export interface FileText {
  readonly text: string
  /** The number of the first displayed line. */
  readonly firstLine: number
}

const NUMBERED = /^\s*(\d+)(?:→|\t|: |\| ?)(.*)$/
const PLACEHOLDER = /^\s*[<[]/ // a result that was cleared, offloaded, or replaced by a notice

/** Returns `undefined` for a placeholder or an empty result, so no edit is based on it. */
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
