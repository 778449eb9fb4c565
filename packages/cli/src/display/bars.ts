/** Bars and charts made of block characters. Pure: numbers in, lines out. */
import type { ContextPart } from "./context-parts.ts"
import { formatCompact } from "./numbers.ts"
import type { Style } from "./terminal.ts"
import { padStart } from "./text.ts"

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
const STEPS = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/** `█████▍` */
export function bar({ value, max, width }: { value: number; max: number; width: number }): string {
  if (max <= 0 || value <= 0) return ""
  const eighths = Math.max(1, Math.round((8 * width * Math.min(value, max)) / max))
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!
}

export interface StackedBar {
  readonly parts: readonly ContextPart[]
  /** Number of tokens that the full width represents. */
  readonly capacity: number
  readonly width: number
}

export interface StackedRuns {
  readonly runs: readonly { readonly kind: ContextPart["kind"]; readonly count: number }[]
  /** Number of empty columns. */
  readonly free: number
}

/** Number of columns for each part, in order. A column shows the part that occupies most of it. */
export function stackedRuns({ parts, capacity, width }: StackedBar): StackedRuns {
  const total = parts.reduce((sum, { tokens }) => sum + tokens, 0)
  const filled = Math.min(width, Math.round((width * total) / capacity))
  const counts = new Map<ContextPart, number>()
  for (let column = 0; column < filled; column++) {
    const part = largestPart(parts, { from: (column * capacity) / width, to: ((column + 1) * capacity) / width })
    if (part) counts.set(part, (counts.get(part) ?? 0) + 1)
  }
  const runs = parts.flatMap((part) => (counts.has(part) ? [{ kind: part.kind, count: counts.get(part)! }] : []))
  return { runs, free: width - filled }
}

/** The part with the most tokens between two positions of the bar. */
function largestPart(parts: readonly ContextPart[], { from, to }: { readonly from: number; readonly to: number }) {
  let start = 0
  let best: { readonly part: ContextPart; readonly share: number } | undefined
  for (const part of parts) {
    const share = Math.min(to, start + part.tokens) - Math.max(from, start)
    if (share > 0 && share > (best?.share ?? 0)) best = { part, share }
    start += part.tokens
  }
  return best?.part
}

export interface BarSign {
  readonly at: number
  readonly sign: string
}

/** Signs below a bar. If two share a column, the second moves right. */
export function signsBelow(
  signs: readonly BarSign[],
  { capacity, width }: { capacity: number; width: number },
): string {
  const cells: string[] = []
  for (const { at, sign } of signs) {
    let place = Math.min(width - 1, Math.max(0, Math.round((width * at) / capacity) - 1))
    while (cells[place] !== undefined) place++
    cells[place] = sign
  }
  return Array.from(cells, (cell) => cell ?? " ").join("")
}

/** One character per value: `▁▂▃▅▇`. */
export function sparkline(values: readonly number[], { max, width }: { max: number; width: number }): string {
  return squeeze(values, width)
    .map((value) => STEPS[max <= 0 ? 0 : Math.min(8, Math.max(1, Math.ceil((8 * value) / max)))]!)
    .join("")
}

export interface ColumnChartOptions {
  readonly values: readonly number[]
  /** The top of the scale. Default: the largest value. */
  readonly max?: number
  /** Indices that get a sign below the axis. */
  readonly marked: readonly number[]
  readonly width: number
  readonly height: number
  readonly style: Style
}

const LABEL = 7

/** A column chart with a scale on the left and signs below. */
export function columnChart({ values, max: top = 0, marked, width, height, style }: ColumnChartOptions): string[] {
  const max = Math.max(1, top, ...values)
  const columns = spreadValues(values, width - LABEL - 1)
  const rows = Array.from({ length: height }, (_, i) => {
    const floor = height - 1 - i
    const cells = columns.map(
      (value) => STEPS[Math.min(8, Math.max(0, Math.round((8 * height * value) / max) - 8 * floor))]!,
    )
    const label =
      i === 0 ? formatCompact(max) : i === Math.floor(height / 2) ? formatCompact((max * (floor + 1)) / height) : ""
    return `${padStart(label, LABEL - 1)} ┤${style.cyan(cells.join("").trimEnd())}`
  })
  const axis = `${padStart("0", LABEL - 1)} └${"─".repeat(columns.length)}`
  if (marked.length === 0) return [...rows, axis]
  const places = new Set(
    marked.map((index) => Math.min(columns.length - 1, Math.floor((index * columns.length) / values.length))),
  )
  const signs = columns
    .map((_, i) => (places.has(i) ? "▲" : " "))
    .join("")
    .trimEnd()
  return [...rows, axis, `${" ".repeat(LABEL + 1)}${style.yellow(signs)}`]
}

/** One value per column: repeats values, or takes the maximum of each section. */
function spreadValues(values: readonly number[], width: number): readonly number[] {
  if (values.length === 0) return []
  const times = Math.min(8, Math.floor(width / values.length))
  return times > 1 ? values.flatMap((value) => Array<number>(times).fill(value)) : squeeze(values, width)
}

function squeeze(values: readonly number[], width: number): readonly number[] {
  if (values.length <= width) return values
  return Array.from({ length: width }, (_, i) =>
    Math.max(...values.slice(Math.floor((i * values.length) / width), Math.floor(((i + 1) * values.length) / width))),
  )
}
