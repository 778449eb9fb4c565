/** The bar that all panels share, and the small panels: todos and help. Plain lines for 80 columns, readable without colour. */
import type { Todo } from "@strata/core/internal"
import { KEYS } from "./keys.ts"

export const PANEL_COLUMNS = 76 // 80 less the panel's margin
const BAR_COLUMNS = 30

/** `████████░░`: a share of a whole. Anything above zero shows at least one cell. */
export function bar(share: number, columns = BAR_COLUMNS): string {
  const cells = Math.min(columns, share > 0 ? Math.max(1, Math.round(share * columns)) : 0)
  return "█".repeat(cells) + "░".repeat(columns - cells)
}

const TODO_MARKS: Readonly<Record<Todo["status"], string>> = { completed: "[x]", in_progress: "[>]", pending: "[ ]" }

export function todoLines(todos: readonly Todo[]): readonly string[] {
  if (todos.length === 0) return ["The agent has no todos."]
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
