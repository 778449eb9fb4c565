/**
 * Step 4, check. How a summary marks names and numbers that have no ground, and how the next check reads those marks: being in a summary
 * must not make them known.
 */
export const notFound = (text: string): string => `[not found in the conversation: ${text}]`

const NOT_FOUND = /\[not found in the conversation: [^\]\n]*\]/g
const UNCHECKED = "Not checked, because only an image, a document or a page that cannot be read here could confirm it:"
const UNCHECKED_LINE = new RegExp(`^${UNCHECKED} (.*)$`, "gm")

/** One sentence that lists each once. Empty for an empty list. */
export const uncheckedNote = (texts: readonly string[]): string =>
  texts.length === 0 ? "" : `${UNCHECKED} ${[...new Set(texts)].map((text) => `\`${text}\``).join(", ")}`

interface Sure {
  /** The summary without what it is not sure of. */
  readonly text: string
  readonly unchecked: readonly string[]
}

export function sureIn(summary: string): Sure {
  const unchecked = [...summary.matchAll(UNCHECKED_LINE)].flatMap(([, list]) =>
    [...list!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!),
  )
  const sure = summary.replace(NOT_FOUND, "").replace(UNCHECKED_LINE, "")
  const text = unchecked.reduce((left, name) => left.replace(wholeWord(name), ""), sure)
  return { text, unchecked }
}

const wholeWord = (name: string) => new RegExp(`(?<![\\w.])${name.replace(/[^\w\s]/g, "\\$&")}(?![\\w])`, "g")
