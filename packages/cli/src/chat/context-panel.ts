/** `/context`: the contents of the window, the next threshold, what the layers keep out of it, and the notes. */

import type { Thresholds } from "@strata/core"
import type { ContextBreakdown } from "@strata/core/tokens"
import { contextShares } from "@strata/core/tokens"
import { attachmentName } from "@strata/page"
import type { LedgerSummary } from "../display/ledger.ts"
import { shortenList } from "../display/long-list.ts"
import { formatCompact, formatPercent } from "../display/numbers.ts"
import { describeKeptOut } from "../display/savings.ts"
import { padEnd, truncate, widthOf, wrapText } from "../display/text.ts"
import {
  type CompactionState,
  describeCompactionState,
  describeNotes,
  describePlanner,
  type NotesState,
  type PlannerState,
} from "./notes-state.ts"
import { bar } from "./panels.ts"

export interface ContextPanelState {
  readonly accounting: ContextBreakdown
  /** Estimated tokens of system prompt, tools and preamble. */
  readonly promptTokens: number
  readonly used: number
  readonly percentLeft: number
  readonly thresholds: Thresholds
  readonly savings: LedgerSummary["savings"]
  readonly compactions: CompactionState
  readonly planner: PlannerState
  readonly notes: NotesState
}

const BAR_SHARE = 0.4 // of the columns; the text after the bar takes the rest
const PART_BAR_SHARE = 0.27
const MIN_BAR_COLUMNS = 6
const NUMBER_COLUMNS = 1 + 7 + 2 + 4 // after a part's bar: tokens and percent
const MAX_PARTS = 30
const MAX_REPEATED = 8

export function contextLines(picture: ContextPanelState, columns: number): readonly string[] {
  const { used, percentLeft, thresholds, accounting } = picture
  const about = [
    describeWindow(thresholds),
    describeThresholds(used, thresholds),
    describeSavings(picture.savings),
    describeTools(accounting),
    describeUnloadedTools(accounting.deferredTools),
    describeCompactionState(picture.compactions),
    describePlanner(picture.planner),
    describeNotes(picture.notes),
  ]
  const rows = classRows(picture, columns)
  const seeAll = "strata inspect --json"
  const repeated = shortenList(accounting.duplicateReads, { isShort: true, max: MAX_REPEATED, seeAll })
  const filled = (words: string) => {
    const max = Math.max(MIN_BAR_COLUMNS, columns - 1 - widthOf(words))
    return `${bar(used / thresholds.limit, Math.min(max, Math.round(columns * BAR_SHARE)))} ${words}`
  }
  return [
    filled(`${formatCompact(used)} of ${formatCompact(thresholds.limit)} tokens, ${percentLeft}% left`),
    ...about.filter(Boolean).flatMap((sentence) => wrapText(sentence, columns)),
    ...(rows.length === 0 ? [] : ["", ...rows]),
    ...repeated.shown.flatMap(({ path, reads, wasted }) =>
      wrapText(
        `${path} was read ${reads} times. ${formatCompact(wasted)} tokens of that repeat earlier reads.`,
        columns,
      ),
    ),
    ...repeated.rest,
  ]
}

function describeWindow({ window, believed, outputReserve }: Thresholds): string {
  const learned =
    believed === undefined
      ? ""
      : ` The server refused more, although ${formatCompact(believed)} were expected. strata config --forget-limits forgets this limit.`
  return `The window holds ${formatCompact(window)} tokens.${learned} Strata keeps ${formatCompact(outputReserve)} free for the answer.`
}

/** The distance to the next threshold, and the thresholds still ahead. */
function describeThresholds(used: number, { warning, autoCompact, blocking, limit }: Thresholds): string {
  const steps: readonly (readonly [what: string, at: number])[] = [
    ["warning", warning],
    ...(limit === autoCompact ? [["compaction", autoCompact] as const] : []),
    ["full", blocking],
  ]
  const ahead = steps.filter(([, at]) => at > used)
  if (ahead.length === 0) return "The window is full. Nothing more is sent until you use /compact or /clear."
  const named = ahead.map(([what, at]) => `${what} at ${formatCompact(at)}`).join(", ")
  return `Next threshold in ${formatCompact(ahead[0]![1] - used)} tokens: ${named}.`
}

function describeSavings(savings: LedgerSummary["savings"]): string {
  const kept = describeKeptOut(savings)
  return kept === "" ? "" : `Kept out of the window: ${kept}. /cost shows what that saves.`
}

function describeTools(accounting: ContextBreakdown): string {
  const { tools, repeatedReads } = contextShares(accounting)
  if (tools.tokens === 0) return ""
  const repeated = repeatedReads.tokens === 0 ? "" : ` ${repeatedReads.percent}% repeats earlier reads.`
  return `Tool calls and results are ${tools.percent}% of the messages.${repeated}`
}

function describeUnloadedTools(tools: ContextBreakdown["deferredTools"]): string {
  if (!tools) return ""
  const { count, tokens } = tools
  return `${count === 1 ? "1 tool is" : `${count} tools are`} not loaded: about ${formatCompact(tokens)} tokens saved per request.`
}

/** Largest part first. Sizes are estimates, scaled to add up to the count of the API. */
function classRows({ accounting, promptTokens, used }: ContextPanelState, columns: number): readonly string[] {
  const estimated = accounting.total + promptTokens
  const scale = estimated === 0 ? 0 : used / estimated
  const classes = [["system prompt and tools", promptTokens] as const, ...classesOf(accounting)]
    .map(([name, count]) => [name, count * scale] as const)
    .filter(([, count]) => count > 0)
  const max = columns - NUMBER_COLUMNS - 2
  const widest = Math.min(max - MIN_BAR_COLUMNS, Math.max(0, ...classes.map(([name]) => widthOf(name))))
  const barColumns = Math.min(max - widest, Math.floor(columns * PART_BAR_SHARE))
  return withoutSmall(classes.toSorted(([, a], [, b]) => b - a)).map(
    ([name, count]) =>
      `${padEnd(truncate(name, widest), widest)}  ${bar(count / used, barColumns)} ${formatCompact(count).padStart(7)}  ${formatPercent(count, used).padStart(4)}`,
  )
}

/** Combines the smallest parts into one row, so that the total stays correct. */
function withoutSmall(parts: readonly (readonly [string, number])[]): readonly (readonly [string, number])[] {
  if (parts.length <= MAX_PARTS) return parts
  const small = parts.slice(MAX_PARTS - 1)
  const sum = small.reduce((total, [, count]) => total + count, 0)
  return [...parts.slice(0, MAX_PARTS - 1), [`${small.length} smaller parts`, sum]]
}

function classesOf(accounting: ContextBreakdown): [name: string, tokens: number][] {
  return [
    ["your messages", accounting.human],
    ["answers", accounting.assistant],
    ["thinking", accounting.thinking],
    ["command output", accounting.commandOutput],
    ...Object.entries(accounting.toolRequests).map(([tool, count]): [string, number] => [`${tool} calls`, count]),
    ...Object.entries(accounting.toolResults).map(([tool, count]): [string, number] => [`${tool} results`, count]),
    ...Object.entries(accounting.attachments).map(([kind, { tokens: count }]): [string, number] => [
      attachmentName(kind),
      count,
    ]),
    ["other", accounting.other],
  ]
}
