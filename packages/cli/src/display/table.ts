/**
 * Tables with columns as wide as their content. If the screen is too narrow, minor columns are omitted and some shrink. Empty columns
 * without a title are omitted. A cell is one line unless its column wraps.
 */
import { padEnd, padStart, truncate, truncateStart, widthOf, wrapText } from "./text.ts"

export interface Column {
  readonly title: string
  /** Default: left. */
  readonly align?: "left" | "right"
  /** How the column shrinks if the table is too wide: truncated at the end, truncated at the beginning (paths), or wrapped. */
  readonly gives?: "end" | "beginning" | "wrap"
  /** Omitted if the table is too wide, starting with the last minor column. */
  readonly isMinor?: boolean
}

export interface TableOptions {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly string[])[]
  readonly width: number
  readonly indent?: number
  /** Style of the title line. If absent, the table has no titles. */
  readonly titles?: (text: string) => string
}

const GAP = 2
const MIN_COLUMN_WIDTH = 8
const COMFORTABLE_WIDTH = 20 // minor columns are omitted before others shrink below this

export function table({ columns: all, rows: given, width, indent = 2, titles }: TableOptions): string[] {
  const used = usedColumns({ columns: all, rows: given, width: width - indent })
  const columns = used.map((i) => all[i]!)
  const rows = given.map((row) => used.map((i) => joinCells(row[i] ?? "")))
  const head = columns.map(({ title }) => title)
  const lines = titles ? [head, ...rows] : rows
  const wanted = columns.map((_, i) => Math.max(0, ...lines.map((row) => widthOf(row[i] ?? ""))))
  const widths = shrinkColumns(wanted, { columns, width: width - indent })
  const line = (cells: readonly string[]) =>
    `${" ".repeat(indent)}${columns.map((column, i) => cell(cells[i] ?? "", { width: widths[i]!, column })).join(" ".repeat(GAP))}`.trimEnd()
  const row = (cells: readonly string[]) => wrapRow(cells, { columns, widths }).map(line).join("\n")
  return [...(titles ? [titles(line(head))] : []), ...rows.map(row)]
}

/** Indices of the columns that are shown. */
function usedColumns({ columns, rows, width }: Omit<TableOptions, "indent" | "titles">): readonly number[] {
  let used = columns.keys().toArray()
  used = used.filter((i) => columns[i]!.title !== "" || rows.some((row) => row[i] !== ""))
  const needed = (i: number) => {
    const { title, gives } = columns[i]!
    const widest = Math.max(widthOf(title), ...rows.map((row) => widthOf(row[i] ?? "")))
    return GAP + (gives ? Math.min(widest, COMFORTABLE_WIDTH) : widest)
  }
  for (;;) {
    const minor = used.findLast((i) => columns[i]!.isMinor)
    if (minor === undefined || sum(used.map(needed)) - GAP <= width) return used
    used = used.filter((i) => i !== minor)
  }
}

/** A row as one line, or as several if a cell wraps. */
function wrapRow(
  cells: readonly string[],
  { columns, widths }: { readonly columns: readonly Column[]; readonly widths: readonly number[] },
): readonly (readonly string[])[] {
  const at = columns.findIndex(({ gives }) => gives === "wrap")
  const [first = "", ...others] = at < 0 ? [] : wrapText(cells[at] ?? "", widths[at]!)
  return at < 0
    ? [cells]
    : [cells.with(at, first), ...others.map((text) => columns.map((_, i) => (i === at ? text : "")))]
}

/** Shrinks the columns that can shrink, always the widest one first. */
function shrinkColumns(
  wanted: readonly number[],
  { columns, width }: Pick<TableOptions, "columns" | "width">,
): readonly number[] {
  const widths = [...wanted]
  let over = sum(wanted) + GAP * (columns.length - 1) - width
  while (over-- > 0) {
    const giving = widths.flatMap((one, i) => (columns[i]!.gives && one > MIN_COLUMN_WIDTH ? [{ one, i }] : []))
    const widest = giving.toSorted((a, b) => b.one - a.one)[0]
    if (widest === undefined) break
    widths[widest.i] = widest.one - 1
  }
  return widths
}

const joinCells = (text: string): string => text.replace(/[\r\n]+/g, " ")

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)

function cell(text: string, { width, column }: { readonly width: number; readonly column: Column }): string {
  const { align, gives } = column
  const cut = gives === "beginning" ? truncateStart(text, width) : gives === "end" ? truncate(text, width) : text
  return align === "right" ? padStart(cut, width) : padEnd(cut, width)
}
