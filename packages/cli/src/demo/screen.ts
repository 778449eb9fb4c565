/** Shows the demo: on a screen like the chat, with the window below it; otherwise one line per event. */
import type { QueryEvent } from "@strata/core"
import { listNames } from "@strata/page"
import type { Scratch } from "@strata/sim"
import { compactionTitle } from "../chat/folded.ts"
import { itemsAfter } from "../chat/query-items.ts"
import type { Item } from "../chat/state.ts"
import { formatCompact, formatDuration, formatPercent, pluralize } from "../display/numbers.ts"
import type { Style, Terminal } from "../display/terminal.ts"
import { indent, padEnd, truncate, truncateStart, wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import type { DemoState } from "./state.ts"

export interface DemoScreen {
  /** Shows an item that does not come from an event. */
  say(item: Item): void
  show(state: DemoState, event: QueryEvent): void
  /** Restores the terminal. May be called twice. */
  end(): void
}

export interface ScreenOptions {
  readonly elapsedMs: () => number
}

const MIN_SCREEN = { columns: 50, rows: 10 }

export async function openScreen(terminal: Terminal, { elapsedMs }: ScreenOptions): Promise<DemoScreen> {
  const { isScreen, columns, rows, style } = terminal
  if (!isScreen || columns < MIN_SCREEN.columns || rows < MIN_SCREEN.rows) return plainScreen(terminal)
  const { openDrawing } = await import("./view.ts") // loaded only for a screen
  let items: readonly Item[] = []
  let latest: DemoState | undefined
  const frame = () => ({ items: items.map(shownItem), state: latest, hasColours: style.isColorSupported, elapsedMs })
  const say = (item: Item) => {
    items = [...items, item]
    drawing.draw(frame())
  }
  const drawing = openDrawing(frame(), (text) => text.trim() !== "" && say(noticeOf(text.trimEnd())))
  return {
    say,
    show(state, event) {
      items = itemsOf(items, event)
      latest = state
      drawing.draw(frame())
    },
    end: drawing.end,
  }
}

export const noticeOf = (text: string): Item => ({ kind: "notice", tone: "plain", text })

/** Cache of displayed items, because every frame contains all items and only the newest change. */
const shownItems = new WeakMap<Item, Item>()

export function shownItem(item: Item): Item {
  const shown = shownItems.get(item) ?? withShortPaths(unfoldCompaction(item))
  shownItems.set(item, shown)
  return shown
}

const MAX_ADDED = 3 // attachments named after a compaction

/** Expands a compaction, because the demo has no key for that. */
function unfoldCompaction(item: Item): Item {
  if (item.kind !== "compaction" || !item.outcome) return item
  const { restored } = item
  const added = restored.length === 0 ? [] : [`Added afterwards: ${listNames(restored.map(fromRoot), MAX_ADDED)}`]
  return { kind: "panel", title: "≡ Compacted", lines: [compactionTitle(item).replace(/^Compacted: /, ""), ...added] }
}

/** Shows paths relative to the scratch copy. */
function withShortPaths(item: Item): Item {
  if (item.kind === "notice") return { ...item, text: fromRoot(item.text).replace(/ in \S*\/\S+$/, ".") }
  if (item.kind === "answer") return { ...item, text: fromRoot(item.text) }
  if (item.kind !== "tool") return item
  const { summary, outcome } = item
  return {
    ...item,
    summary: fromRoot(summary),
    ...(outcome && { outcome: { ...outcome, text: fromRoot(outcome.text) } }),
  }
}

const fromRoot = (text: string) =>
  text.replace(/(?:\/[^\s/"'`]+)*\/strata-demo-\d+\/[^\s/"'`]+(\/?)/g, (_, slash: string) => (slash === "" ? "." : ""))

/** The items as in the chat, plus retries, which the chat shows only temporarily. The demo itself limits the turns of a task. */
export function itemsOf(items: readonly Item[], event: QueryEvent): readonly Item[] {
  if (event.type === "thinking") return items // the demo has no key to expand it
  if (event.type === "done" && event.reason === "max-turns") {
    const ended = itemsAfter(items, { ...event, reason: "answer", text: "" })
    return [...ended, noticeOf(`The demo ends this task here, after ${pluralize(event.limit, "turn")}.`)]
  }
  const after = itemsAfter(items, event)
  if (event.type !== "retry") return after
  return [...after, noticeOf(`${event.reason}: retried in ${formatDuration(event.delayMs)}`)]
}

const MAX_WIDTH = 100
const SIGN_COLUMNS = 6 // columns for turn and sign before the text

/** Prints one line per turn and per finished event. */
export function plainScreen({ print, style, columns }: Pick<Terminal, "print" | "style" | "columns">): DemoScreen {
  const width = Math.min(columns, MAX_WIDTH)
  const line = (text: string) => print(`${text}\n`)
  let items: readonly Item[] = []
  let fill: DemoState["fill"] = "fine"
  return {
    say(item) {
      if (item.kind === "panel") {
        const lines = typeof item.lines === "function" ? item.lines(width - 2) : item.lines
        line(["", style.bold(item.title), ...indent(lines, 2), ""].join("\n"))
      } else if (item.kind === "heading") line(`${style.bold(item.text)}\n`)
      else if (item.kind === "notice") {
        const [first = "", ...more] = wrapText(item.text, width - SIGN_COLUMNS)
        line([`    ${style.cyan("+")} ${first}`, ...indent(more, SIGN_COLUMNS)].join("\n"))
      }
    },
    show(state, event) {
      const before = items
      items = itemsOf(items, event)
      if (event.type === "response") {
        line(turnLine(state, fill))
        fill = state.fill
      }
      const item = finishedItem(event, items, before)
      const text = item && itemLine(withShortPaths(item), { turn: state.turn, style, width })
      if (text !== undefined) line(text)
    },
    end: () => undefined,
  }
}

/** The item that an event finished or added. Calls run in parallel, so it may not be the last item. */
function finishedItem(event: QueryEvent, items: readonly Item[], before: readonly Item[]): Item | undefined {
  switch (event.type) {
    case "tool-result":
      return items.findLast((item) => item.kind === "tool" && item.id === event.id)
    case "compacted":
      return items.findLast(({ kind }) => kind === "compaction")
    case "response":
      return items.findLast((item, at) => item.kind === "answer" && item !== before[at])
    case "text":
      return undefined
    default:
      return items.length > before.length ? items.at(-1) : undefined
  }
}

interface ItemLineOptions {
  readonly turn: number
  readonly style: Style
  readonly width: number
}

/** `  3 ✓ read src/main.ts   12 ms`; `undefined` for unfinished items. */
export function itemLine(item: Item, { turn, style, width }: ItemLineOptions): string | undefined {
  const row = (sign: string, text: string, detail = "") => {
    const room = width - SIGN_COLUMNS - (detail === "" ? 0 : detail.length + 1)
    const shown = padEnd(truncate(escapeToLine(text.replace(/\s+/g, " ").trim()), room), room)
    return `${style.dim(String(turn).padStart(3))} ${sign} ${shown}${detail === "" ? "" : ` ${style.dim(detail)}`}`.trimEnd()
  }
  switch (item.kind) {
    case "user":
      return row(style.yellow("·"), `You: ${item.text}`)
    case "answer":
      return row(style.blue("›"), item.text)
    case "notice":
      return row(style.yellow("·"), item.text)
    case "compaction": {
      if (!item.outcome) return undefined
      const { audit: _, planned: __, ...outcome } = item.outcome // too long for one line
      return row(style.cyan("≡"), compactionTitle({ ...item, outcome }))
    }
    case "tool": {
      const { outcome, name, summary } = item
      if (!outcome) return undefined
      const call = summary === "" ? name : name === "Bash" ? `$ ${summary}` : summary
      const time = formatDuration(outcome.ms)
      return outcome.state === "ok"
        ? row(style.green("✓"), call, time)
        : row(style.red("✗"), `${call}: ${outcome.text}`, time)
    }
    default:
      return undefined
  }
}

/** States how full the window is only if that differs from the line before. */
function turnLine({ turn, size, thresholds, spent, fill }: DemoState, before: DemoState["fill"]): string {
  const facts = [
    `${formatCompact(size)} of ${formatCompact(thresholds.window)} tokens`,
    `${formatPercent(spent?.hitRatio ?? 0, 1)} from cache`,
    `$${(spent?.dollars ?? 0).toFixed(4)}`,
    ...(fill === before ? [] : [FILLS[fill]]),
  ]
  return `turn ${turn}: ${facts.join(", ")}`
}

const FILLS = { fine: "below warning", warning: "past warning", compact: "compaction is due", blocked: "full" } as const

/** Introduces the demo and explains the thresholds. */
export function introduction(scratch: Scratch, { thresholds }: DemoState): Item {
  const { window, outputReserve, effective, autoCompact, warning } = thresholds
  const texts = [
    `A simulated model works on a scratch copy of ${truncateStart(scratch.source, 40)} (${scratch.files} files). It needs no key and no network, and touches none of your files.`,
    `Its window holds ${formatCompact(window)} tokens. Strata reserves ${formatCompact(outputReserve)} of them for the model's answer and ${formatCompact(effective - autoCompact)} for writing a summary. So it compacts at ${formatCompact(autoCompact)}: a summary replaces the older messages. "Past warning" means that fewer than ${formatCompact(autoCompact - warning)} tokens are left until then.`,
  ]
  return {
    ...{ kind: "panel", title: "strata demo" },
    lines: (columns) => texts.flatMap((text) => wrapText(text, Math.min(columns, MAX_WIDTH))),
  }
}
