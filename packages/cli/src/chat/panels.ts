/** What panels share, and the small ones: bars, todos, help. Plain lines for 80 columns; no colour is needed to read them. */
import type { Todo } from "@strata/core"
import { KEYS } from "./keys.ts"

export const PANEL_COLUMNS = 76 // of 80, within the panel's own edge
const BAR_COLUMNS = 30

/** `████████░░` : how much of a whole. What is there at all shows at least one cell. */
export function bar(share: number, columns = BAR_COLUMNS): string {
  const cells = Math.min(columns, share > 0 ? Math.max(1, Math.round(share * columns)) : 0)
  return "█".repeat(cells) + "░".repeat(columns - cells)
}

const TODO_MARKS: Readonly<Record<Todo["status"], string>> = { completed: "[x]", in_progress: "[>]", pending: "[ ]" }

export function todoLines(todos: readonly Todo[]): readonly string[] {
  if (todos.length === 0) return ["There are no todos."]
  return todos.map(({ content, status }) => `${TODO_MARKS[status]} ${content}`)
}

export function helpLines(commands: readonly { readonly usage: string; readonly about: string }[]): readonly string[] {
  const rows = [
    ...commands.map(({ usage, about }): readonly [string, string] => [usage, about]),
    ["", ""] as const,
    ...KEYS,
  ]
  const widest = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `${left.padEnd(widest)}  ${right}`.trimEnd())
}
