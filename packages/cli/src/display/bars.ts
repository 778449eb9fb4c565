/** Bars and charts made of block characters. Pure: numbers in, lines out. */
import { type ContextPart, partSign } from "./context-parts.ts"
import { short } from "./numbers.ts"
import type { Style } from "./terminal.ts"
import { padStart } from "./text.ts"

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
const STEPS = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/** `█████▍` */
export function bar({ value, most, width }: { value: number; most: number; width: number }): string {
  if (most <= 0 || value <= 0) return ""
  const eighths = Math.max(1, Math.round((8 * width * Math.min(value, most)) / most))
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!
}

export interface StackedBar {
  readonly parts: readonly ContextPart[]
  /** The tokens that the full width represents. */
  readonly capacity: number
  readonly width: number
  readonly style: Style
}

/** The parts side by side, then the free space. */
export function stackedBar({ parts, capacity, width, style }: StackedBar): string {
  const column = (tokens: number) => Math.min(width, Math.round((width * tokens) / capacity))
  let tokens = 0
  let line = ""
  for (const part of parts) {
    const from = column(tokens)
    tokens += part.tokens
    line += partSign(part.kind, { style, count: column(tokens) - from })
  }
  return line + style.dim("·".repeat(width - column(tokens)))
}

export interface Mark {
  readonly at: number
  readonly sign: string
}

/** Marks below a bar. If two share a place, the second moves right. */
export function marksBelow(marks: readonly Mark[], { capacity, width }: { capacity: number; width: number }): string {
  const cells: string[] = []
  for (const { at, sign } of marks) {
    let place = Math.min(width - 1, Math.max(0, Math.round((width * at) / capacity) - 1))
    while (cells[place] !== undefined) place++
    cells[place] = sign
  }
  return Array.from(cells, (cell) => cell ?? " ").join("")
}

/** One character per value: `▁▂▃▅▇`. */
export function sparkline(values: readonly number[], { most, width }: { most: number; width: number }): string {
  return squeezed(values, width)
    .map((value) => STEPS[most <= 0 ? 0 : Math.min(8, Math.max(1, Math.ceil((8 * value) / most)))]!)
    .join("")
}

export interface Chart {
  readonly values: readonly number[]
  /** Indices to mark below the axis. */
  readonly marked: readonly number[]
  readonly width: number
  readonly height: number
  readonly style: Style
}

const LABEL = 7

/** Values as columns, with a scale on the left and marks below. */
export function columnChart({ values, marked, width, height, style }: Chart): string[] {
  const most = Math.max(1, ...values)
  const columns = spread(values, width - LABEL - 1)
  const rows = Array.from({ length: height }, (_, i) => {
    const floor = height - 1 - i
    const cells = columns.map(
      (value) => STEPS[Math.min(8, Math.max(0, Math.round((8 * height * value) / most) - 8 * floor))]!,
    )
    const label = i === 0 ? short(most) : i === Math.floor(height / 2) ? short((most * (floor + 1)) / height) : ""
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

/** One value per column: repeats values, or takes the largest of each stretch. */
function spread(values: readonly number[], width: number): readonly number[] {
  if (values.length === 0) return []
  const times = Math.min(8, Math.floor(width / values.length))
  return times > 1 ? values.flatMap((value) => Array<number>(times).fill(value)) : squeezed(values, width)
}

function squeezed(values: readonly number[], width: number): readonly number[] {
  if (values.length <= width) return values
  return Array.from({ length: width }, (_, i) =>
    Math.max(...values.slice(Math.floor((i * values.length) / width), Math.floor(((i + 1) * values.length) / width))),
  )
}
