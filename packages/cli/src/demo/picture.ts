/** The live picture: a state as lines that fit the window. Pure. */
import { totalSaving } from "@strata/core/internal/views/ledger/savings-report"
import { marksBelow, sparkline, stackedBar } from "../display/bars.ts"
import { type ContextPart, PARTS, partSign } from "../display/context-parts.ts"
import { clockTime, dollars, grouped, percent, short } from "../display/numbers.ts"
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

const WIDEST = 100
const FEWEST_HAPPENINGS = 3
const LEGEND_COLUMN = 39

export function picture(state: DemoState, { style, columns, rows, elapsedMs }: Look): readonly string[] {
  const width = Math.min(columns, WIDEST) - 2
  const above = [
    ...headLine(state, { style, width, elapsedMs }),
    "",
    ...windowPart(state, { style, width }),
    "",
    ...legend(state, style),
    "",
    ...figures(state, { style, width }),
    "",
  ]
  const room = Math.max(FEWEST_HAPPENINGS, rows - above.length - 2)
  const happenings = state.happenings.slice(-room).map((one) => happeningLine(one, { style, width }))
  const filled = [...happenings, ...Array<string>(Math.max(0, Math.min(room, 9) - happenings.length)).fill("")]
  return [...above, ...filled].map((line) => (line === "" ? "" : ` ${line}`))
}

interface Room {
  readonly style: Style
  readonly width: number
}

function headLine(state: DemoState, { style, width, elapsedMs }: Room & { readonly elapsedMs: number }): string[] {
  const left = `${style.bold("strata demo")}  ${style.dim(`${state.model}, simulated`)}`
  const right = `turn ${state.turn} of about ${state.planned}  ${clockTime(elapsedMs)}`
  return [left + padStart(right, width - widthOf(left))]
}

/** The window as one bar, the thresholds below it. */
function windowPart(demo: DemoState, { style, width }: Room): string[] {
  const { parts, size, thresholds, fill } = demo
  const { window, warning, autoCompact, blocking, outputReserve, effective } = thresholds
  const marks = [
    { at: warning, sign: "w" },
    { at: autoCompact, sign: "c" },
    { at: blocking, sign: "b" },
  ]
  const used = `${short(size)} of ${short(window)}`
  const left = short(Math.max(0, autoCompact - size))
  const state = {
    fine: style.green(`fine, compacts in ${left}`),
    warning: style.yellow(`past warning, compacts in ${left}`),
    compact: style.yellow("compaction is due"),
    blocked: style.red("full"),
  }[fill]
  const meaning = `w warning ${short(warning)}  c compaction ${short(autoCompact)}  b full ${short(blocking)}`
  const reserves = `reserved: ${short(outputReserve)} for the answer, ${short(effective - autoCompact)} for writing a summary`
  const title = `${style.bold("Window")} ${used}: ${state}`
  const work = style.dim(`work: ${windowsOf(demo)}`)
  return [
    title + padStart(work, width - widthOf(title)),
    stackedBar({ parts, capacity: window, width, style }),
    style.dim(marksBelow(marks, { capacity: window, width })),
    style.dim(padStart(meaning, width)),
    style.dim(padStart(reserves, width)),
  ]
}

/** What the bar shows, in two columns, the largest first. Always the same height, so that nothing jumps. */
function legend({ parts, size }: DemoState, style: Style): string[] {
  const shown = parts.toSorted((a, b) => b.tokens - a.tokens).slice(0, 8)
  const half = Math.ceil(Math.max(shown.length, 8) / 2)
  return Array.from({ length: half }, (_, i) => {
    const left = legendEntry(shown[i], { size, style })
    const right = legendEntry(shown[i + half], { size, style })
    return `${padEnd(left, LEGEND_COLUMN)}${right}`.trimEnd()
  })
}

function legendEntry(part: ContextPart | undefined, { size, style }: { size: number; style: Style }): string {
  if (part === undefined) return ""
  const { label } = PARTS[part.kind]
  return `${partSign(part.kind, { style })} ${padEnd(label, 23)} ${padStart(short(part.tokens), 6)} ${padStart(percent(part.tokens, size), 4)}`
}

function figures(state: DemoState, { style, width }: Room): string[] {
  const { spent } = state
  const counts = spent?.counts
  const input = counts ? counts.input + counts.cacheRead + counts.cacheWrite5m + counts.cacheWrite1h : 0
  const facts = [
    `${short(input)} in, ${style.bold(percent(spent?.hitRatio ?? 0, 1))} from cache`,
    `${short(counts?.output ?? 0)} out`,
    `${style.bold(dollars(spent?.dollars ?? 0))}`,
    `${grouped(spent?.requests ?? 0)} requests`,
  ]
  return [
    facts.join("  ·  "),
    layersLine(state, { style, width }),
    compactionLine(state, { style, width }),
    ...growth(state, { style, width }),
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
function growth({ sizes, compactions, thresholds }: DemoState, { style, width }: Room): string[] {
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

/** What the layers have kept out of the requests so far, and out of the window now. Always one line, so that nothing jumps. */
function layersLine({ spent, notesTokens }: DemoState, { style, width }: Room): string {
  const savings = spent?.savings ?? []
  if (savings.length === 0) return style.dim("saved: nothing yet")
  const said = [
    `${short(totalSaving(savings).unsent)} tokens not sent`,
    keptOut(savings),
    notesTokens > 0 ? `notes ${short(notesTokens)}` : "",
  ]
  return fitted(`saved: ${said.filter(Boolean).join("  ·  ")}`, width)
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
