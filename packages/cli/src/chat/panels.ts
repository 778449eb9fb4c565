/** What commands print: the context as bars, the ledger, todos, help. Plain lines for 80 columns; no colour is needed to read them. */
import type { Accounting, LedgerSummary, Thresholds, Todo } from "@strata/core"
import { inputTokens, type LedgerLine } from "@strata/core/parts"
import { counted, dollars, percent, short } from "../display/numbers.ts"
import { KEYS } from "./keys.ts"

const BAR_COLUMNS = 30

/** `████████░░` : how much of a whole. What is there at all shows at least one cell. */
export function bar(share: number, columns = BAR_COLUMNS): string {
  const cells = Math.min(columns, share > 0 ? Math.max(1, Math.round(share * columns)) : 0)
  return "█".repeat(cells) + "░".repeat(columns - cells)
}

export interface ContextPicture {
  readonly accounting: Accounting
  readonly used: number
  readonly percentLeft: number
  readonly thresholds: Thresholds
}

export function contextLines({ accounting, used, percentLeft, thresholds }: ContextPicture): readonly string[] {
  const total = Math.max(used, accounting.total)
  const prompt: [string, number] = ["instructions, tools", total - accounting.total]
  const classes = [prompt, ...classesOf(accounting)].filter(([, count]) => count > 0)
  classes.sort(([, a], [, b]) => b - a)
  const widest = Math.max(0, ...classes.map(([name]) => name.length))
  return [
    `${bar(used / thresholds.limit)} ${short(used)} of ${short(thresholds.limit)} tokens, ${percentLeft}% left`,
    `The window holds ${short(thresholds.window)}; ${short(thresholds.outputReserve)} of it are kept free for the answer.`,
    ...(classes.length === 0 ? [] : [""]),
    ...classes.map(
      ([name, count]) =>
        `${name.padEnd(widest)}  ${bar(count / total, 20)} ${short(count).padStart(7)}  ${percent(count, total).padStart(4)}`,
    ),
    ...accounting.duplicateReads.map(
      ({ path, reads, wasted }) => `${path} was read ${reads} times; ${short(wasted)} tokens of that are repeated.`,
    ),
  ]
}

function classesOf(accounting: Accounting): [name: string, tokens: number][] {
  return [
    ["your words", accounting.human],
    ["answers", accounting.assistant],
    ["thinking", accounting.thinking],
    ["command output", accounting.commandOutput],
    ...Object.entries(accounting.toolRequests).map(([tool, count]): [string, number] => [`${tool} calls`, count]),
    ...Object.entries(accounting.toolResults).map(([tool, count]): [string, number] => [`${tool} results`, count]),
    ...Object.entries(accounting.attachments).map(([kind, { tokens: count }]): [string, number] => [
      kind.replaceAll("_", " "),
      count,
    ]),
    ["other", accounting.other],
  ]
}

export function costLines(summary: LedgerSummary, lines: readonly LedgerLine[]): readonly string[] {
  const { requests, counts, hitRatio, unpriced } = summary
  return [
    `${dollars(summary.dollars)} for ${counted(requests, "request")}`,
    `input ${short(inputTokens(counts))} tokens, ${percent(hitRatio, 1)} of them from the cache; output ${short(counts.output)}`,
    `cache read ${short(counts.cacheRead)}, written ${short(counts.cacheWrite5m + counts.cacheWrite1h)}, neither ${short(counts.input)}`,
    ...(lines.length > 1 ? lines.map(lineOf) : []),
    ...(unpriced.length === 0 ? [] : [`The price of ${unpriced.join(", ")} is not known and not in the sum.`]),
  ]
}

function lineOf({ model, purpose, requests, dollars: amount }: LedgerLine): string {
  return `${model} (${purpose}): ${counted(requests, "request")}, ${amount === undefined ? "price not known" : dollars(amount)}`
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
