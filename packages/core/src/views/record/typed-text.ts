/**
 * Separates what a person typed from what they pasted. A short message counts as typed. In a long one quoted code, quotes and tagged
 * blocks are pasted, and so is the body of a document: only the lines before and after it can be the person's. The pieces are verbatim.
 */

const MOST_TYPED = 2_000 // characters; about ten minutes of typing
const BEFORE_DOCUMENT = 600 // characters at the beginning of a document that may be typed
const AFTER_DOCUMENT = 400

const LOOKED_AT = 10_000 // characters at each end of a longer text

const FENCE = /^\s*(```+|~~~+)/
const QUOTE = /^\s*>/
const OPENING_TAG = /^\s*<([A-Za-z][\w.:-]*)(?:\s[^>]*)?>/
/** Lines that occur in documents rather than in what someone types: headings, rules, tables. */
const DOCUMENT_LINE = /^\s{0,3}(?:#{1,6}\s|\|.*\||(?:-{3,}|={3,}|\*{3,})\s*$)/
const LISTED = /^\s*(?:[-*+]|\d+[.)])\s/

export function typedPieces(text: string): readonly string[] {
  if (text.length <= MOST_TYPED) return text.split("\n")
  const lines = withoutQuoted(linesOf(text))
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0)
  return length <= MOST_TYPED ? lines : aroundDocument(lines)
}

/** The lines that may be the person's own words, without quotes and code, however short the text is. What nothing closes quotes the rest. */
export function typedLines(text: string): readonly string[] {
  const lines = withoutQuoted(linesOf(text))
  const open = lines.findIndex((line) => FENCE.test(line))
  return typedPieces((open < 0 ? lines : lines.slice(0, open)).join("\n"))
}

function linesOf(text: string): readonly string[] {
  if (text.length <= 2 * LOOKED_AT) return text.split("\n")
  const [first, last] = [text.slice(0, LOOKED_AT).split("\n"), text.slice(-LOOKED_AT).split("\n")]
  return [...first.slice(0, -1), "", ...last.slice(1)]
}

function withoutQuoted(lines: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const end = endOfBlock(lines, at)
    if (end !== undefined) at = end
    else if (!QUOTE.test(line)) kept.push(line)
  }
  return kept
}

/** The last line of the quoted block that begins here. What nothing closes quotes nothing. */
function endOfBlock(lines: readonly string[], at: number): number | undefined {
  const fence = FENCE.exec(lines[at]!)?.[1]
  if (fence !== undefined) {
    const end = lines.findIndex((line, index) => index > at && line.trim().startsWith(fence))
    return end < 0 ? undefined : end
  }
  const tag = OPENING_TAG.exec(lines[at]!)?.[1]
  if (tag === undefined) return undefined
  const end = lines.findIndex((line, index) => index >= at && line.includes(`</${tag}>`))
  return end < 0 ? undefined : end
}

function aroundDocument(lines: readonly string[]): readonly string[] {
  const before = upTo(BEFORE_DOCUMENT, lines)
  const rest = lines.slice(before.length)
  const paragraph = rest.slice(rest.findLastIndex((line) => line.trim() === "") + 1)
  const isTyped = (piece: readonly string[]) =>
    upTo(AFTER_DOCUMENT, piece).length === piece.length && !piece.some((line) => LISTED.test(line))
  const after = [paragraph, rest.slice(-1)].find(isTyped) ?? []
  return [...before, ...after]
}

/** The first lines, as far as the limit and the first line of a document allow. */
function upTo(characters: number, lines: readonly string[]): readonly string[] {
  let room = characters
  const end = lines.findIndex((line) => {
    room -= line.length + 1
    return room < 0 || DOCUMENT_LINE.test(line)
  })
  return end < 0 ? lines : lines.slice(0, end)
}
