/** Breaks a panel's line that is wider than the screen into rows: bars get shorter and columns stay aligned. Pure. */
import { widthOf } from "../display/text.ts"
import { wrapSpans } from "./wrap.ts"

const BAR = /[█░]{5,}/
const SHORTEST_BAR = 4 // columns
const LAST_COLUMN = /^.*\S {2,}(?=\S)/ // up to the start of a table's last column
const MIN_TEXT = 20 // columns: less makes the last column hard to read
const INDENT = 2

export function panelRows(line: string, columns: number): readonly string[] {
  const fitting = withShorterBar(line, widthOf(line) - columns)
  if (widthOf(fitting) <= columns) return [fitting]
  const table = LAST_COLUMN.exec(fitting)?.[0] ?? ""
  const isTable = table !== "" && columns - widthOf(table) >= MIN_TEXT
  const before = isTable ? table : /^ */.exec(fitting)![0]
  const indent = " ".repeat(widthOf(before) + (isTable ? 0 : INDENT))
  return wrapSpans([{ text: fitting.slice(before.length) }], Math.max(1, columns - indent.length)).map(
    (row, i) => (i === 0 ? before : indent) + row.map(({ text }) => text).join(""),
  )
}

/** Shortens the bar in proportion, so that it still shows the same share. */
function withShorterBar(line: string, excess: number): string {
  if (excess <= 0) return line
  return line.replace(BAR, (bar) => {
    const length = Math.max(SHORTEST_BAR, bar.length - excess)
    const cells = [...bar].filter((cell) => cell === "█").length
    const filled = cells === 0 ? 0 : Math.max(1, Math.round((cells * length) / bar.length))
    return "█".repeat(filled) + "░".repeat(length - filled)
  })
}
