/** The live picture: a state as lines that fit the window. Pure. */
import { inputTokens, NO_TOKENS } from "@strata/core/base"
import { totalSaving } from "@strata/core/views"
import { columnChart, marksBelow, sparkline, stackedBar } from "../display/bars.ts"
import { type ContextPart, PARTS, partSign } from "../display/context-parts.ts"
import { clockTime, counted, dollars, percent, short } from "../display/numbers.ts"
import { keptOut } from "../display/savings.ts"
import type { Style } from "../display/terminal.ts"
import { fitted, padEnd, padStart, widthOf } from "../display/text.ts"
import type { DemoState, Happening } from "./state.ts"
import { compactionWords, windowsOf } from "./story.ts"

export interface Look {
  readonly style: Style
  readonly columns: number
  readonly rows: number
  readonly elapsedMs: number
}

const WIDEST = 160 // in a wider window, figures and times would be far from what they belong to
const FEWEST_HAPPENINGS = 4
const ROWS_OF_LOG = 9 // from the start, so that nothing jumps
const ROWS_OF_CHART = 6
const ROWS_FOR_CHART = 36 // of the window; in a lower one the chart would take room from the log
const LEGEND_COLUMN = 39
const LEGEND_PARTS = 8

/** As many lines as the window has, or fewer. In a low window the least important parts are left out, in a high one the log is longer. */
export function picture(state: DemoState, { style, columns, rows, elapsedMs }: Look): readonly string[] {
  const width = Math.min(columns, WIDEST) - 2
  const room = { style, width }
  const above = fittingParts(
    [
      [[1, headLine(state, { ...room, elapsedMs })]],
      [[9, ""]],
      windowPart(state, room),
      [[8, ""]],
      legend(state, { ...room, isLow: rows < ROWS_OF_USUAL_WINDOW }),
      [[7, ""]],
      figures(state, { ...room, isHigh: rows >= ROWS_FOR_CHART }),
      [[6, ""]],
    ],
    rows - FEWEST_HAPPENINGS,
  )
  const left = Math.max(0, rows - above.length)
  const happenings = left === 0 ? [] : state.happenings.slice(-left).map((one) => happeningLine(one, room))
  const blank = Array<string>(Math.max(0, Math.min(left, ROWS_OF_LOG) - happenings.length)).fill("")
  return [...above, ...happenings, ...blank].map((line) => (line === "" ? "" : ` ${line}`))
}

const ROWS_OF_USUAL_WINDOW = 24

/** A line and how soon it may be left out: the highest number first. */
type Part = readonly [order: number, line: string]

function fittingParts(parts: readonly (readonly Part[])[], most: number): readonly string[] {
  const lines = parts.flat().map(([order, line], at) => ({ order, line, at }))
  const over = lines
    .toSorted((a, b) => b.order - a.order || b.at - a.at)
    .slice(0, Math.max(0, lines.length - Math.max(1, most)))
  const isLeftOut = new Set(over.map(({ at }) => at))
  return lines.filter(({ at }) => !isLeftOut.has(at)).map(({ line }) => line)
}

interface Room {
  readonly style: Style
  readonly width: number
}

/** The first pair that fits, the second text at the right edge. */
function atBothEdges(pairs: readonly (readonly [left: string, right: string])[], width: number): string {
  const fitting = pairs.find(([left, right]) => widthOf(left) + 2 + widthOf(right) <= width)
  const [left, right] = fitting ?? [pairs.at(-1)![0], ""]
  return left + padStart(right, width - widthOf(left))
}

/** The facts in one line. Where there is no room, the last ones are left out. */
function factsLine(facts: readonly string[], width: number): string {
  for (let count = facts.length; count > 1; count--)
    for (const between of ["  ·  ", " · "]) {
      const line = facts.slice(0, count).join(between)
      if (widthOf(line) <= width) return line
    }
  return facts[0] ?? ""
}

function headLine(state: DemoState, { style, width, elapsedMs }: Room & { readonly elapsedMs: number }): string {
  const name = style.bold("strata demo")
  const time = clockTime(elapsedMs)
  return atBothEdges(
    [
      [`${name}  ${style.dim(`${state.model}, simulated`)}`, `turn ${state.turn} of about ${state.planned}  ${time}`],
      [`${name}  ${style.dim("simulated")}`, `turn ${state.turn} of about ${state.planned}  ${time}`],
      [name, `turn ${state.turn}  ${time}`],
    ],
    width,
  )
}

const MOST_ESTIMATED = 0.02 // a share of the size below which the figure does not say "about"

/** The window as one bar, the thresholds below it. */
function windowPart(demo: DemoState, { style, width }: Room): Part[] {
  const { parts, size, estimated, thresholds, fill } = demo
  const { window, warning, autoCompact, blocking, outputReserve, effective } = thresholds
  const marks = [
    { at: warning, sign: "w" },
    { at: autoCompact, sign: "c" },
    { at: blocking, sign: "b" },
  ]
  const used = `${estimated > size * MOST_ESTIMATED ? "about " : ""}${short(size)} of ${short(window)}`
  const left = short(Math.max(0, autoCompact - size))
  const state = {
    fine: style.green(`fine, compacts in ${left}`),
    warning: style.yellow(`past warning, compacts in ${left}`),
    compact: style.red("compaction is due"),
    blocked: style.red("full"),
  }[fill]
  const due = fill === "fine" || fill === "warning" ? `compacts in ${left}` : ""
  const title = `${style.bold("Window")} ${used}`
  const [answer, summary] = [short(outputReserve), short(effective - autoCompact)]
  const meaning = `w warning ${short(warning)}  c compaction ${short(autoCompact)}  b full ${short(blocking)}`
  const reserves = `reserved: ${answer} for the answer, ${summary} for writing a summary`
  return [
    [
      1,
      atBothEdges(
        [
          [`${title}: ${state}`, style.dim(`work: ${windowsOf(demo)}`)],
          [`${title}: ${state}`, style.dim(windowsOf(demo))],
          [`${title}${due ? `, ${due}` : ""}`, style.dim(windowsOf(demo))],
          [title, style.dim(`work: ${windowsOf(demo)}`)],
        ],
        width,
      ),
    ],
    [1, stackedBar({ parts, capacity: window, width, style })],
    [2, style.dim(marksBelow(marks, { capacity: window, width }))],
    [3, style.dim(padStart(fitted(meaning, width), width))],
    [10, style.dim(padStart(fitted(reserves, width), width))],
  ]
}

/**
 * What the bar shows, the largest first: in columns, or one after another in a low or narrow window. Always the same height, so that
 * nothing jumps.
 */
function legend({ parts, size }: DemoState, { style, width, isLow }: Room & { readonly isLow: boolean }): Part[] {
  const shown = parts.toSorted((a, b) => b.tokens - a.tokens).slice(0, LEGEND_PARTS)
  const columns = Math.min(4, Math.floor((width + 3) / LEGEND_COLUMN))
  if (isLow || columns < 2) return legendInLines(shown, { style, width })
  const rows = Math.ceil(LEGEND_PARTS / columns)
  return Array.from({ length: rows }, (_, row): Part => {
    const cells = Array.from({ length: columns }, (_, column) =>
      padEnd(legendEntry(shown[row + column * rows], { size, style }), LEGEND_COLUMN),
    )
    return [5, cells.join("").trimEnd()]
  })
}

function legendEntry(part: ContextPart | undefined, { size, style }: { size: number; style: Style }): string {
  if (part === undefined) return ""
  const { label } = PARTS[part.kind]
  return `${partSign(part.kind, { style })} ${padEnd(label, 23)} ${padStart(short(part.tokens), 6)} ${padStart(percent(part.tokens, size), 4)}`
}

/** Two lines, the second ending in a mark if there are more parts. */
function legendInLines(shown: readonly ContextPart[], { style, width }: Room): Part[] {
  const lines = ["", ""]
  let line = 0
  for (const { kind, tokens } of shown) {
    const entry = `${partSign(kind, { style })} ${PARTS[kind].label} ${short(tokens)}`
    const gap = lines[line] === "" ? "" : "  "
    const reserve = line === 0 ? 0 : 3 // for the mark
    if (widthOf(`${lines[line]}${gap}${entry}`) <= width - reserve) lines[line] += `${gap}${entry}`
    else if (line === 0) lines[++line] = entry
    else {
      lines[line] += "  …"
      break
    }
  }
  return [
    [4, lines[0]!],
    [5, lines[1]!],
  ]
}

function figures(state: DemoState, { style, width, isHigh }: Room & { readonly isHigh: boolean }): Part[] {
  const { spent } = state
  const counts = spent?.counts
  const facts = [
    `${short(inputTokens(counts ?? NO_TOKENS))} in, ${style.bold(percent(spent?.hitRatio ?? 0, 1))} from cache`,
    `${short(counts?.output ?? 0)} out`,
    `${style.bold(dollars(spent?.dollars ?? 0))}`,
    counted(spent?.requests ?? 0, "request"),
  ]
  const [line, marks] = growth(state, { style, width })
  return [
    [1, factsLine(facts, width)],
    [4, layersLine(state, { style, width })],
    [2, compactionLine(state, { style, width })],
    ...(isHigh
      ? growthChart(state, { style, width }).map((row): Part => [4, row])
      : ([
          [3, line],
          [3, marks],
        ] as const)),
  ]
}

/** The current compaction, or the last one. */
function compactionLine({ compacting, compactions, thresholds }: DemoState, { style, width }: Room): string {
  if (compacting !== undefined) return style.cyan(fitted(`compacting… ${compacting}`, width))
  const last = compactions.at(-1)
  if (!last) return style.dim(`no compaction yet; the first one comes at ${short(thresholds.autoCompact)}`)
  return fitted(`last compaction: ${compactionWords(last)}`, width)
}

/** The context's size turn by turn, with marks for compactions. */
function growth({ sizes, compactions, thresholds }: DemoState, { style, width }: Room): readonly [string, string] {
  const label = "growth "
  const room = width - label.length
  const line = sparkline(sizes, { most: thresholds.autoCompact, width: room })
  const marks = marksBelow(
    compactions.map(({ at }) => ({ at: at + 1, sign: "▲" })),
    { capacity: Math.max(1, sizes.length), width: Math.min(room, Math.max(1, sizes.length)) },
  )
  const meaning = compactions.length === 0 ? "" : `${" ".repeat(label.length)}${marks}`
  return [`${style.dim(label)}${style.cyan(line)}`, style.yellow(fitted(meaning, width))]
}

/** The same in several rows. It has room for all planned turns from the start, so that columns stay where they are. */
function growthChart({ sizes, compactions, thresholds, planned }: DemoState, { style, width }: Room): string[] {
  const ahead = Array<number>(Math.max(0, planned - sizes.length)).fill(0)
  const chart = columnChart({
    values: [...sizes, ...ahead],
    most: thresholds.autoCompact,
    marked: compactions.map(({ at }) => at),
    width,
    height: ROWS_OF_CHART,
    style,
  })
  return compactions.length === 0 ? [...chart, ""] : chart
}

/** What the layers have kept out of the requests so far, and out of the window now. Always one line, so that nothing jumps. */
function layersLine({ spent, notesTokens }: DemoState, { style, width }: Room): string {
  const savings = spent?.savings ?? []
  if (savings.length === 0) return style.dim("saved: nothing yet")
  const said = [
    `saved: ${short(totalSaving(savings).unsent)} tokens not sent`,
    keptOut(savings),
    notesTokens > 0 ? `notes ${short(notesTokens)}` : "",
  ]
  return fitted(factsLine(said.filter(Boolean), width), width)
}

const SIGNS: Readonly<
  Record<
    Happening["kind"],
    { readonly sign: string; readonly colour: "cyan" | "green" | "red" | "blue" | "yellow" | "dim" }
  >
> = {
  running: { sign: "…", colour: "cyan" },
  done: { sign: "✓", colour: "green" },
  failed: { sign: "✗", colour: "red" },
  said: { sign: "›", colour: "blue" },
  retry: { sign: "↻", colour: "yellow" },
  attached: { sign: "+", colour: "dim" },
  notice: { sign: "·", colour: "yellow" },
  compacted: { sign: "≡", colour: "cyan" },
}

export function happeningLine({ turn, kind, text, detail }: Happening, { style, width }: Room): string {
  const { sign, colour } = SIGNS[kind]
  const front = `${padStart(String(turn), 3)} `
  const room = width - front.length - 2 - (detail === "" ? 0 : detail.length + 1)
  const shown = padEnd(fitted(text, room), room)
  return `${style.dim(front)}${style[colour](sign)} ${shown}${detail === "" ? "" : ` ${style.dim(detail)}`}`.trimEnd()
}
