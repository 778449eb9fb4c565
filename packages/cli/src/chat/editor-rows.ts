/** The input line as rows for the screen, with the cursor. */
import { widthOf } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import type { Editor } from "./editor.ts"

const letters = new Intl.Segmenter()

export interface EditorRow {
  readonly text: string
  /** The text before, under and after the cursor, if the cursor is in this row. */
  readonly cursor?: { readonly before: string; readonly under: string; readonly after: string }
}

export function editorRows({ text, cursor }: Editor, columns: number): readonly EditorRow[] {
  let start = 0
  return text.split("\n").flatMap((line) => {
    const at = cursor - start
    start += line.length + 1
    return rowsOf(line, columns).map(({ from, to }, i, rows) => {
      const isLast = i === rows.length - 1
      const isHere = at >= from && (isLast ? at <= to : at < to)
      return rowOf({ row: line.slice(from, to), at: isHere ? at - from : undefined })
    })
  })
}

interface EditorPiece {
  readonly from: number
  readonly to: number
}

/** Breaks after the last space that fits, or inside a word. The last row leaves a column for the cursor. */
function rowsOf(line: string, columns: number): readonly EditorPiece[] {
  const rows: EditorPiece[] = []
  let row = { from: 0, width: 0 }
  let word = { from: 0, width: 0 }
  for (const { segment, index } of letters.segment(line)) {
    const width = widthOf(escapeToLine(segment))
    if (row.width + width > columns && row.width > 0) {
      const next = word.from > row.from ? word : { from: index, width: 0 }
      rows.push({ from: row.from, to: next.from })
      row = { ...next }
    }
    row.width += width
    word = /\s/.test(segment) ? { from: index + segment.length, width: 0 } : { ...word, width: word.width + width }
  }
  rows.push({ from: row.from, to: line.length })
  return row.width < columns ? rows : [...rows, { from: line.length, to: line.length }]
}

function rowOf({ row, at }: { readonly row: string; readonly at: number | undefined }): EditorRow {
  const text = escapeToLine(row)
  if (at === undefined) return { text }
  const under = letters.segment(row).containing(at)?.segment ?? ""
  return {
    text,
    cursor: {
      before: escapeToLine(row.slice(0, at)),
      under: escapeToLine(under) || " ",
      after: escapeToLine(row.slice(at + under.length)),
    },
  }
}
