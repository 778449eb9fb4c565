/** Draws the window of the demo as lines: its contents, compactions, tokens sent and saved. Pure. */
import { inputTokens, NO_TOKENS } from "@strata/core/base"
import { totalSaving } from "@strata/core/views"
import { columnChart, signsBelow, sparkline, stackedRuns } from "../display/bars.ts"
import { PARTS, type PartKind } from "../display/context-parts.ts"
import { formatClockTime, formatCompact, formatDollars, formatPercent, pluralize } from "../display/numbers.ts"
import { describeKeptOut } from "../display/savings.ts"
import { plainStyle } from "../display/terminal.ts"
import { padStart, truncate, widthOf } from "../display/text.ts"
import { describeCompactionSizes, formatWindows } from "./captions.ts"
import type { DemoState } from "./state.ts"

/** Text in one style. */
export interface PictureSpan {
  readonly text: string
  readonly color?: string
  readonly dimColor?: boolean
  readonly bold?: boolean
}
export type PictureLine = readonly PictureSpan[]

export interface PictureOptions {
  readonly columns: number
  readonly rows: number
  readonly elapsedMs: number
  readonly hasColours: boolean
}

const MAX_WIDTH = 160 // in a wider window, numbers would be far from their labels
const ROWS_OF_CHART = 6
const ROWS_FOR_CHART = 36 // rows of the window; in a lower one the chart would take space from the conversation
const MAX_ESTIMATED = 0.02 // if a smaller share of the size is estimated, the number is not marked as approximate

/** Draws a fixed number of lines for each window size, so that nothing jumps. A low window omits the least important ones. */
export function picture(
  state: DemoState,
  { columns, rows, elapsedMs, hasColours }: PictureOptions,
): readonly PictureLine[] {
  const width = Math.min(columns, MAX_WIDTH) - 2
  const { thresholds } = state
  const { warning, autoCompact, blocking, outputReserve, effective, window } = thresholds
  const signs = [
    { at: warning, sign: "w" },
    { at: autoCompact, sign: "c" },
    { at: blocking, sign: "b" },
  ]
  const meaning = `w warning ${formatCompact(warning)}  c compaction ${formatCompact(autoCompact)}  b full ${formatCompact(blocking)}`
  const reserves = `reserved: ${formatCompact(outputReserve)} for the answer, ${formatCompact(effective - autoCompact)} for writing a summary`
  const [first, second] = legend(state, { width, hasColours })
  const lines: readonly (readonly [leastRows: number, line: PictureLine])[] = [
    [0, titleLine(state, width)],
    [0, windowBar(state, { width, hasColours })],
    [12, dim(signsBelow(signs, { capacity: window, width }))],
    [15, dim(padStart(truncate(meaning, width), width))],
    [30, dim(padStart(truncate(reserves, width), width))],
    [18, first],
    [24, second],
    [30, []],
    [14, costLine(state, width)],
    [18, savedLine(state, width)],
    [15, compactionLine(state, width)],
    ...growth(state, { width, isHigh: rows >= ROWS_FOR_CHART }).map((line): readonly [number, PictureLine] => [
      20,
      line,
    ]),
    [0, headLine(state, { width, elapsedMs })],
  ]
  const shown = lines.filter(([minRows]) => rows >= minRows).map(([, line]) => line)
  return hasColours ? shown : shown.map((line) => line.map(({ text }) => ({ text })))
}

const dim = (text: string): PictureLine => [{ text, dimColor: true }]
const widthOfLine = (line: PictureLine) => widthOf(line.map(({ text }) => text).join(""))

const STATES = {
  fine: { color: "green", words: (left: string) => `fine, compacts in ${left}` },
  warning: { color: "yellow", words: (left: string) => `past warning, compacts in ${left}` },
  compact: { color: "red", words: () => "compaction is due" },
  blocked: { color: "red", words: () => "full" },
}

/** Title on the left and, if it fits, state on the right. */
function titleLine(state: DemoState, width: number): PictureLine {
  const { size, estimated, thresholds, fill } = state
  const { color, words } = STATES[fill]
  const used = `${estimated > size * MAX_ESTIMATED ? "about " : ""}${formatCompact(size)} of ${formatCompact(thresholds.window)}`
  const left: PictureLine = [
    { text: "Window", bold: true },
    { text: ` ${used}: ` },
    { text: words(formatCompact(Math.max(0, thresholds.autoCompact - size))), color },
  ]
  const work = `work: ${formatWindows(state)}`
  const gap = width - widthOfLine(left) - widthOf(work)
  return gap < 2 ? left : [...left, { text: " ".repeat(gap) }, ...dim(work)]
}

interface LegendOptions {
  readonly width: number
  readonly hasColours: boolean
}

/** A part as coloured blocks, or as its letter without colours. */
function partSpan(kind: PartKind, hasColours: boolean, count = 1): PictureSpan {
  const { colour: color, letter } = PARTS[kind]
  return hasColours ? { text: "█".repeat(count), color } : { text: letter.repeat(count) }
}

function windowBar({ parts, thresholds }: DemoState, { width, hasColours }: LegendOptions): PictureLine {
  const { runs, free } = stackedRuns({ parts, capacity: thresholds.window, width })
  return [...runs.map(({ kind, count }) => partSpan(kind, hasColours, count)), ...dim("·".repeat(free))]
}

/** Explains the bar in two lines, largest part first. The second line ends with an ellipsis if parts are missing. */
function legend({ parts, size }: DemoState, { width, hasColours }: LegendOptions): readonly [PictureLine, PictureLine] {
  const lines: [PictureSpan[], PictureSpan[]] = [[], []]
  const mark = "  …"
  let at: 0 | 1 = 0
  for (const { kind, tokens } of parts.toSorted((a, b) => b.tokens - a.tokens)) {
    const text = ` ${PARTS[kind].label} ${formatCompact(tokens)} ${formatPercent(tokens, size)}`
    const room = () => width - widthOfLine(lines[at]) - (at === 0 ? 0 : mark.length)
    if (room() < text.length + 3 && at === 0 && lines[0].length > 0) at = 1
    if (room() < text.length + 3) {
      lines[at].push(...dim(mark))
      break
    }
    if (lines[at].length > 0) lines[at].push({ text: "  " })
    lines[at].push(partSpan(kind, hasColours), { text })
  }
  return lines
}

/** The facts in one line. Facts at the end are omitted if they do not fit. */
function factsLine(facts: readonly string[], width: number): string {
  for (let count = facts.length; count > 1; count--) {
    const line = facts.slice(0, count).join(" · ")
    if (widthOf(line) <= width) return line
  }
  return truncate(facts[0] ?? "", width)
}

function costLine({ spent }: DemoState, width: number): PictureLine {
  const counts = spent?.counts ?? NO_TOKENS
  const facts = [
    `${formatCompact(inputTokens(counts))} in, ${formatPercent(spent?.hitRatio ?? 0, 1)} from cache`,
    `${formatCompact(counts.output)} out`,
    formatDollars(spent?.dollars ?? 0),
    pluralize(spent?.requests ?? 0, "request"),
  ]
  return [{ text: factsLine(facts, width) }]
}

/** Tokens that the layers have kept out of requests so far, and out of the window now. */
function savedLine({ spent, notesTokens }: DemoState, width: number): PictureLine {
  const savings = spent?.savings ?? []
  if (savings.length === 0) return dim("saved: nothing yet")
  const facts = [
    `saved: ${formatCompact(totalSaving(savings).unsent)} tokens not sent`,
    describeKeptOut(savings),
    notesTokens > 0 ? `notes ${formatCompact(notesTokens)}` : "",
  ]
  return [{ text: factsLine(facts.filter(Boolean), width) }]
}

/** Describes the current compaction, or the last one. */
function compactionLine({ compacting, compactions, thresholds }: DemoState, width: number): PictureLine {
  if (compacting !== undefined) return [{ text: truncate(`compacting… ${compacting}`, width), color: "cyan" }]
  const last = compactions.at(-1)
  if (!last)
    return dim(truncate(`no compaction yet; the first one comes at ${formatCompact(thresholds.autoCompact)}`, width))
  return [{ text: truncate(`last compaction: ${describeCompactionSizes(last)}`, width) }]
}

/** The context size turn by turn, with a sign for each compaction: as one row, or as a chart in a high window. */
function growth(
  { sizes, compactions, thresholds, planned }: DemoState,
  { width, isHigh }: { readonly width: number; readonly isHigh: boolean },
): readonly PictureLine[] {
  const max = thresholds.autoCompact
  if (isHigh) {
    const ahead = Array<number>(Math.max(0, planned - sizes.length)).fill(0)
    const values = [...sizes, ...ahead]
    const marked = compactions.map(({ at }) => at)
    const chart = columnChart({ values, max, marked, width, height: ROWS_OF_CHART, style: plainStyle })
    const lines = chart.map((text, row): PictureLine => [{ text, color: row > ROWS_OF_CHART ? "yellow" : "cyan" }])
    return marked.length === 0 ? [...lines, []] : lines
  }
  const label = "growth "
  const room = width - label.length
  const signs = signsBelow(
    compactions.map(({ at }) => ({ at: at + 1, sign: "▲" })),
    { capacity: Math.max(1, sizes.length), width: Math.min(room, Math.max(1, sizes.length)) },
  )
  return [
    [...dim(label), { text: sparkline(sizes, { max, width: room }), color: "cyan" }],
    compactions.length === 0 ? [] : [{ text: truncate(`${" ".repeat(label.length)}${signs}`, width), color: "yellow" }],
  ]
}

function headLine(
  state: DemoState,
  { width, elapsedMs }: { readonly width: number; readonly elapsedMs: number },
): PictureLine {
  const turn = `turn ${state.turn} of about ${state.planned}`
  return dim(factsLine(["strata demo", turn, formatClockTime(elapsedMs), `${state.model}, simulated`], width))
}
