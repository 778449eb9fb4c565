/**
 * The body of a dialog as rows for the screen. Nothing is cut: long lines continue in the next row after an arrow, which distinguishes them
 * from real line ends. Highlighted parts have carets below them, so that they are visible without colours.
 */
import { widthOf } from "../display/text.ts"
import { escapeForTerminal } from "../display/visible.ts"
import type { BodyHighlight, DialogBody } from "./dialog.ts"

export interface BodyRow {
  readonly spans: readonly BodySpan[]
  readonly tone: "plain" | "added" | "removed" | "quiet"
}

export interface BodySpan {
  readonly text: string
  readonly tone?: "marked" | "quiet"
}

const CONTINUED = "↳ "
const CARET = "^"
const TAB = "  "
const BREAK_WITHIN = 24 // columns: rows break at a space if it is this close to the end
const letters = new Intl.Segmenter()

export function bodyRows({ form, text, highlights = [] }: DialogBody, columns: number): readonly BodyRow[] {
  let start = 0
  return text.split("\n").flatMap((line) => {
    const tone = form === "diff" ? diffTone(line) : "plain"
    const pieces = splitAtHighlights(line, { start, highlights })
    start += line.length + 1
    return breakIntoRows(pieces, columns).flatMap((cells, i) => [
      { spans: [...(i > 0 ? [{ text: CONTINUED, tone: "quiet" as const }] : []), ...mergeCells(cells)], tone },
      ...caretRows(cells, { indent: i > 0 ? CONTINUED.length : 0, columns }),
    ])
  })
}

function diffTone(line: string): BodyRow["tone"] {
  if (line.startsWith("+")) return "added"
  return line.startsWith("-") ? "removed" : "quiet"
}

interface StyledChunk {
  readonly text: string
  readonly kinds: readonly string[]
}

/** Splits the line where highlights start and end. Each chunk is escaped. */
function splitAtHighlights(
  line: string,
  { start, highlights }: { readonly start: number; readonly highlights: readonly BodyHighlight[] },
) {
  const here = highlights.filter((mark) => mark.start < start + line.length && mark.end > start)
  const inLine = (offset: number) => Math.min(line.length, Math.max(0, offset - start))
  const cuts = new Set([0, line.length, ...here.flatMap((mark) => [inLine(mark.start), inLine(mark.end)])])
  const at = [...cuts].toSorted((a, b) => a - b)
  return at.slice(1).map((end, i): StyledChunk => {
    const from = at[i]!
    const covering = here.filter((mark) => inLine(mark.start) <= from && inLine(mark.end) >= end)
    return {
      text: escapeForTerminal(line.slice(from, end)).replaceAll("\t", TAB),
      kinds: [...new Set(covering.map(({ kind }) => kind))],
    }
  })
}

interface BodyCell {
  readonly text: string
  readonly width: number
  readonly kinds: readonly string[]
}

function breakIntoRows(pieces: readonly StyledChunk[], columns: number): readonly (readonly BodyCell[])[] {
  const [only] = pieces
  if (pieces.length <= 1 && (only === undefined || (only.kinds.length === 0 && widthOf(only.text) <= columns)))
    return [only === undefined ? [] : [{ ...only, width: widthOf(only.text) }]]
  const cells = pieces.flatMap(({ text, kinds }) =>
    [...letters.segment(text)].map(({ segment }) => ({ text: segment, width: widthOf(segment), kinds })),
  )
  const rows: BodyCell[][] = []
  for (let from = 0; from < cells.length; from += rows.at(-1)!.length)
    rows.push(
      cells.slice(from, rowEnd(cells, { from, columns: rows.length > 0 ? columns - CONTINUED.length : columns })),
    )
  return rows
}

function rowEnd(
  cells: readonly BodyCell[],
  { from, columns }: { readonly from: number; readonly columns: number },
): number {
  let end = from
  let width = 0
  while (end < cells.length && (end === from || width + cells[end]!.width <= columns)) width += cells[end++]!.width
  if (end === cells.length) return end
  const space = cells.slice(from, end).findLastIndex(({ text }) => text === " ")
  return space >= 0 && from + space > end - BREAK_WITHIN ? from + space + 1 : end
}

/** Merges neighbouring cells of the same style into one span. */
function mergeCells(cells: readonly BodyCell[]): readonly BodySpan[] {
  const spans: { text: string; tone?: "marked" }[] = []
  for (const { text, kinds } of cells) {
    const last = spans.at(-1)
    const isMarked = kinds.length > 0
    if (last && (last.tone === "marked") === isMarked) last.text += text
    else spans.push(isMarked ? { text, tone: "marked" } : { text })
  }
  return spans
}

/** Carets below the highlighted cells, followed by their kinds, which get a row of their own if they do not fit. */
function caretRows(
  cells: readonly BodyCell[],
  { indent, columns }: { readonly indent: number; readonly columns: number },
): readonly BodyRow[] {
  const kinds = [...new Set(cells.flatMap((cell) => cell.kinds))]
  if (kinds.length === 0) return []
  const carets = cells.map((cell) => (cell.kinds.length > 0 ? CARET : " ").repeat(cell.width)).join("")
  const line = `${" ".repeat(indent)}${carets}`.trimEnd()
  const label = kinds.join(", ")
  const lines = line.length + 1 + label.length <= columns ? [`${line} ${label}`] : [line, label]
  return lines.map((text) => ({ spans: [{ text, tone: "marked" }], tone: "plain" }))
}
