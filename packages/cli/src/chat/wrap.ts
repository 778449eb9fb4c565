/** Breaks styled text into rows at spaces, which are dropped. Words wider than a row are broken too. */
import { widthOf } from "../display/text.ts"
import type { Span } from "./markdown.ts"

const letters = new Intl.Segmenter()

export function wrapSpans(spans: readonly Span[], columns: number): readonly (readonly Span[])[] {
  const rows: Span[][] = [[]]
  let used = 0
  const breakRow = () => {
    trimEnd(rows.at(-1)!)
    rows.push([])
    used = 0
  }
  for (const word of wordsOf(spans).flatMap((word) => brokenTo(word, columns))) {
    const width = widthOf(word.map(({ text }) => text).join(""))
    const isSpace = word[0]?.text.trim() === ""
    if (used + width > columns && used > 0) breakRow()
    if (isSpace && used === 0 && rows.length > 1) continue
    rows.at(-1)!.push(...word)
    used += width
  }
  return rows
}

/** Splits into words and the spaces between them. A word may have several styles. */
function wordsOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  const words: Span[][] = []
  let isWordOpen = false
  for (const span of spans) {
    for (const text of span.text.split(/(\s+)/)) {
      if (text === "") continue
      const isSpace = text.trim() === ""
      if (isWordOpen && !isSpace) words.at(-1)!.push({ ...span, text })
      else words.push([{ ...span, text }])
      isWordOpen = !isSpace
    }
  }
  return words
}

/** The word, or its letters if it is wider than a row. */
function brokenTo(word: readonly Span[], columns: number): readonly (readonly Span[])[] {
  if (widthOf(word.map(({ text }) => text).join("")) <= columns) return [word]
  return word.flatMap((span) => [...letters.segment(span.text)].map(({ segment }) => [{ ...span, text: segment }]))
}

function trimEnd(row: Span[]): void {
  while (row.at(-1)?.text.trim() === "") row.pop()
}
