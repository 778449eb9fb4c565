/** `/context`: the contents of the window, the next threshold, what the layers keep out of it, and the notes. */

import type { Thresholds } from "@strata/core"
import type { ContextBreakdown } from "@strata/core/tokens"
import { contextShares } from "@strata/core/tokens"
import { attachmentsLabel, CONTEXT_LABELS } from "@strata/page"
import type { LedgerSummary } from "../display/ledger.ts"
import { shortenList } from "../display/long-list.ts"
import { formatCompact, formatNumber } from "../display/numbers.ts"
import { describeKeptOut } from "../display/savings.ts"
import { type FormattedShare, formatShares } from "../display/shares.ts"
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
const MIN_COLUMNS_FOR_BARS = 50 // a narrower panel has only names and numbers
const NUMBER_COLUMNS = 1 + 9 + 2 + 4 // after a part's bar: tokens and percent
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
    const room = columns - 1 - widthOf(words)
    if (room < MIN_BAR_COLUMNS) return words
    return `${bar(used / thresholds.limit, Math.min(room, Math.round(columns * BAR_SHARE)))} ${words}`
  }
  return [
    filled(`${formatCompact(used)} of ${formatCompact(thresholds.limit)} usable tokens, ${percentLeft}% left`),
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

function describeWindow({ window, believed, outputReserve, effective, limit }: Thresholds): string {
  const learned =
    believed === undefined
      ? ""
      : ` The server refused more, although ${formatCompact(believed)} were expected. strata config --forget-limits forgets this limit.`
  const earlier = limit < effective ? `, and compaction starts ${formatCompact(effective - limit)} earlier` : ""
  return `The window holds ${formatCompact(window)} tokens.${learned} ${formatCompact(outputReserve)} are reserved for the answer${earlier}, so ${formatCompact(limit)} are usable.`
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
  const classes = classesOf(accounting, promptTokens).filter(([, count]) => count > 0)
  if (classes.length === 0 || used === 0) return []
  const max = columns - NUMBER_COLUMNS - 2
  const minBar = columns < MIN_COLUMNS_FOR_BARS ? 0 : MIN_BAR_COLUMNS
  const widest = Math.min(max - minBar, Math.max(0, ...classes.map(([name]) => widthOf(name))))
  const barColumns = minBar && Math.min(max - widest, Math.floor(columns * PART_BAR_SHARE))
  const parts = withoutSmall(classes.toSorted(([, a], [, b]) => b - a))
  const estimated = accounting.total + promptTokens
  const shares = formatShares(
    parts.map(([, count]) => count),
    used,
  )
  const row = (name: string, drawn: string, { tokens, percent }: FormattedShare) =>
    `${padEnd(truncate(name, widest), widest)}  ${drawn} ${tokens.padStart(9)}  ${percent.padStart(4)}`
  const all = row("all", " ".repeat(barColumns), { tokens: formatNumber(used), percent: "100%" })
  return [
    ...parts.map(([name, count], i) =>
      row(name, barColumns === 0 ? "" : bar(count / estimated, barColumns), shares[i]!),
    ),
    all,
  ]
}

/** Combines the smallest parts into one row, so that the total stays correct. */
function withoutSmall(parts: readonly (readonly [string, number])[]): readonly (readonly [string, number])[] {
  if (parts.length <= MAX_PARTS) return parts
  const small = parts.slice(MAX_PARTS - 1)
  const sum = small.reduce((total, [, count]) => total + count, 0)
  return [...parts.slice(0, MAX_PARTS - 1), [`${small.length} smaller parts`, sum]]
}

/** Tokens by label. Commands that the user ran are in two classes of the breakdown, by the program that recorded them. */
function classesOf(accounting: ContextBreakdown, promptTokens: number): [label: string, tokens: number][] {
  const { command_output: commands, ...attachments } = accounting.attachments
  return [
    [CONTEXT_LABELS.prompt, promptTokens],
    [CONTEXT_LABELS.human, accounting.human],
    [CONTEXT_LABELS.assistant, accounting.assistant],
    [CONTEXT_LABELS.thinking, accounting.thinking],
    [attachmentsLabel("command_output"), accounting.commandOutput + (commands?.tokens ?? 0)],
    ...Object.entries(accounting.toolRequests).map(([tool, count]): [string, number] => [`${tool} calls`, count]),
    ...Object.entries(accounting.toolResults).map(([tool, count]): [string, number] => [`${tool} results`, count]),
    ...Object.entries(attachments).map(([kind, { tokens: count }]): [string, number] => [
      attachmentsLabel(kind),
      count,
    ]),
    [CONTEXT_LABELS.other, accounting.other],
  ]
}
