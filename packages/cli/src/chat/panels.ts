/** Shared parts of all panels, and two small panels: todos and help. Plain lines for the width of the window, readable without colours. */
import type { Todo } from "@strata/core/messages"
import { shortenList } from "../display/long-list.ts"
import { indent, padEnd, widthOf, wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import { KEYS } from "./keys.ts"

/** Renders the lines of a panel for a number of columns. */
export type PanelLines = (columns: number) => readonly string[]

const MARGIN_COLUMNS = 4 // two on each side
const MAX_COLUMNS = 160 // longer lines are hard to follow
const MIN_COLUMNS = 20

/** Number of columns for panels in a window of this width. */
export const panelColumns = (window: number): number =>
  Math.max(MIN_COLUMNS, Math.min(window - MARGIN_COLUMNS, MAX_COLUMNS))

/** `████████░░`: a bar for a share. A share above zero fills at least one cell. */
export function bar(share: number, columns: number): string {
  const cells = Math.min(columns, share > 0 ? Math.max(1, Math.round(share * columns)) : 0)
  return "█".repeat(cells) + "░".repeat(columns - cells)
}

const TODO_SIGNS: Readonly<Record<Todo["status"], string>> = { completed: "[x]", in_progress: "[>]", pending: "[ ]" }

const MAX_TODOS = 30

export interface PanelOptions {
  readonly columns: number
  /** Shows the complete list. */
  readonly isWhole?: boolean
}

/** Renders the todos. A long list omits completed ones first. */
export function todoLines(todos: readonly Todo[], { columns, isWhole = false }: PanelOptions): readonly string[] {
  if (todos.length === 0) return ["The agent has no todos."]
  const isShort = !isWhole && todos.length > MAX_TODOS
  const ordered = isShort ? todos.toSorted((a, b) => Number(isDone(a)) - Number(isDone(b))) : todos
  const { shown, rest } = shortenList(ordered, { isShort, max: MAX_TODOS, seeAll: "/todos all" })
  const rows = shown.map(({ content, status }): Row => [TODO_SIGNS[status], content])
  return [...hanging(rows, { columns, gap: 1 }), ...rest]
}

const isDone = ({ status }: Todo): boolean => status === "completed"

interface HelpRow {
  readonly usage: string
  readonly about: string
}

export interface HelpOptions {
  readonly builtIn: readonly HelpRow[]
  /** Custom commands from files, skills and MCP servers. */
  readonly own: readonly HelpRow[]
}

const MAX_OWN_COMMANDS = 20

export function helpLines(
  { builtIn, own }: HelpOptions,
  { columns, isWhole = false }: PanelOptions,
): readonly string[] {
  const { shown, rest } = shortenList(own, { isShort: !isWhole, max: MAX_OWN_COMMANDS, seeAll: "/help all" })
  const rowsOf = (commands: readonly HelpRow[]) => commands.map(({ usage, about }): Row => [usage, about])
  const more = rest.map((text): Row => ["", text])
  return hanging([...rowsOf(builtIn), ...rowsOf(shown), ...more, ["", ""], ...KEYS], { columns })
}

type Row = readonly [left: string, right: string]

const MAX_LEFT_SHARE = 0.4

/** Two columns; long text in the second one wraps with a hanging indent. */
export function hanging(
  rows: readonly Row[],
  { columns, gap = 2 }: { readonly columns: number; readonly gap?: number },
): readonly string[] {
  const max = Math.floor(columns * MAX_LEFT_SHARE)
  const widest = Math.min(max, Math.max(...rows.map(([left]) => widthOf(left))))
  const margin = widest + gap
  return rows.flatMap(([left, right]) => {
    const lines = wrapText(escapeToLine(right), columns - margin)
    const isLong = widthOf(left) > widest
    const first = isLong ? left : `${padEnd(left, margin)}${lines.shift() ?? ""}`.trimEnd()
    return [first, ...indent(lines, margin)]
  })
}
