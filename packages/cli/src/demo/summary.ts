/** The final output of the demo: a summary, the comparison with and without Strata, and commands to try next. */

import type { Artifacts } from "@strata/core/views"
import { PURPOSE_LABELS, type RequestPurpose as Purpose } from "@strata/core/views"
import { LAYER_LABELS } from "@strata/page"
import type { LedgerSummary } from "../display/ledger.ts"
import {
  formatClockTime,
  formatCompact,
  formatDollars,
  formatDollarsOrUnknown,
  formatNumber,
  formatPercent,
  pluralize,
} from "../display/numbers.ts"
import { describeCacheUse } from "../display/savings.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { indent, truncateStart, widthOf, wrapText } from "../display/text.ts"
import { quotePath } from "../program-call.ts"
import { describeCompactionSizes, describeRestored, formatWindows } from "./captions.ts"
import { comparisonLines } from "./comparison.ts"
import type { NextDay } from "./next-day.ts"
import type { RetainedFacts } from "./retention-check.ts"
import type { DemoState } from "./state.ts"

export interface DemoOutcome {
  readonly state: DemoState
  readonly elapsedMs: number
  /** Results of the second conversation, if there was one. */
  readonly nextDay?: NextDay
  readonly artifacts: Pick<Artifacts, "files" | "commands">
  /** Facts that remain accessible in the first conversation. */
  readonly facts: readonly RetainedFacts[]
  /** The beginning of a command line of this program. */
  readonly strata: string
  /** True if a key for a real model is set. */
  readonly hasKey: boolean
  /** True if the journal was stored in memory. */
  readonly isInMemory?: boolean
  /** Path of the journal, if it was preserved. */
  readonly journal?: string
}

export function summary(
  outcome: DemoOutcome,
  { style, columns }: { style: Style; columns: number },
): readonly string[] {
  const { state, elapsedMs, artifacts, journal, nextDay } = outcome
  const { spent, size, thresholds, turn, tasks } = state
  const counts = spent?.counts
  const width = Math.min(columns, 100)
  const files = [...artifacts.files.values()]
  const changed = files.filter(({ changes, created }) => changes > 0 || created).length
  const commands = [...artifacts.commands.values()]
  const rows = [
    ["turns", `${formatNumber(turn)} in ${formatClockTime(elapsedMs)}, for ${pluralize(tasks, "task")}`],
    [
      "work",
      `${formatCompact(state.work)} tokens, ${formatWindows(state)} of ${formatNumber(thresholds.window)}; ${formatNumber(size)} are in the window now`,
    ],
    ...compactionRows(state, width),
    ["input", counts ? describeCacheUse(counts) : "none"],
    ["cache", `${formatPercent(spent?.hitRatio ?? 0, 1)} of the input was read from it`],
    ["output", `${formatNumber(counts?.output ?? 0)} tokens`],
    [
      "cost",
      `${formatDollars((spent?.dollars ?? 0) + (nextDay?.spent?.dollars ?? 0))} at the prices of the real ${state.model}`,
    ],
    ...billRows(spent?.byPurpose ?? []),
    ...(nextDay?.spent
      ? [
          [
            "",
            `second conversation: ${pluralize(nextDay.spent.requests, "request")}, ${formatDollars(nextDay.spent.dollars)}`,
          ],
        ]
      : []),
    ...layerRows(spent?.savings ?? []),
    ...(nextDay ? memoryRows(nextDay, width) : []),
    ["files", `${formatNumber(files.filter(({ reads }) => reads > 0).length)} read, ${formatNumber(changed)} changed`],
    [
      "commands",
      `${formatNumber(commands.length)} run, ${formatNumber(commands.filter(({ failed }) => failed).length)} failed`,
    ],
    ["journal", journal ? truncateStart(journal, width - LABELS) : whereJournalWent(outcome)],
  ]
  return [
    style.bold("What happened"),
    ...table({ columns: [{ title: "" }, { title: "" }], rows: rows.flatMap((row) => inWidth(row, width)), width }),
    "",
    ...comparisonLines(state, { style, width, facts: outcome.facts }),
    "",
    style.bold("What to try next"),
    ...nextStepLines(nextSteps(outcome), { style, width }),
  ]
}

const whereJournalWent = ({ isInMemory }: DemoOutcome) =>
  isInMemory ? "was kept in memory, so it ends with the demo" : "removed with the scratch copy (--keep keeps both)"

/** One line per compaction. */
function compactionRows({ compactions, waits }: DemoState, width: number): readonly (readonly string[])[] {
  if (compactions.length === 0) return [["compacted", "never: there was room for everything"]]
  const left = compactions.length - MAX_COMPACTIONS
  return [
    ["compacted", `${pluralize(compactions.length, "time")}; ${describeWaits(waits)}`],
    ...(left > 0 ? [["", `${pluralize(left, "earlier compaction")}, then`]] : []),
    ...compactions
      .slice(-MAX_COMPACTIONS)
      .flatMap((one) => wrappedRows(`turn ${one.turn}: ${describeCompactionSizes(one)}${describeAdded(one)}`, width)),
  ]
}

const describeWaits = (waits: number) =>
  waits === 0 ? "no request waited for a summary" : `requests waited for ${pluralize(waits, "summary", "summaries")}`

function describeAdded(compaction: DemoState["compactions"][number]): string {
  const added = describeRestored(compaction)
  return added === "" ? "" : `; then added: ${added}`
}

const MAX_COMPACTIONS = 6 // one line each
const LABELS = 13 // columns of labels

/** Continuation lines are indented. */
const wrappedRows = (text: string, width: number): readonly (readonly string[])[] =>
  wrapText(text, width - LABELS - 2).map((line, i) => ["", i === 0 ? line : `  ${line}`])

/** Wraps a row that is too long. */
function inWidth([label = "", text = ""]: readonly string[], width: number): readonly (readonly string[])[] {
  if (widthOf(text) <= width - LABELS) return [[label, text]]
  return wrappedRows(text, width).map(([, line = ""], i) => [i === 0 ? label : "", line])
}

/** Remarks on purposes. Notes cost the same in a small window, so their share in the demo is larger. */
const REMARKS: Partial<Record<Purpose, string>> = { notes: " (they cost the same in a large window)" }

/** Cost by purpose. */
function billRows(byPurpose: LedgerSummary["byPurpose"]): readonly (readonly string[])[] {
  return byPurpose.map(({ purpose, requests, dollars: paid }) => [
    "",
    `${PURPOSE_LABELS[purpose]}: ${pluralize(requests, "request")}, ${formatDollarsOrUnknown(paid)}${REMARKS[purpose] ?? ""}`,
  ])
}

/** One line per layer: number of actions and tokens removed. The comparison shows the money. */
function layerRows(savings: LedgerSummary["savings"]): readonly (readonly string[])[] {
  if (savings.length === 0) return [["layers", "had nothing to do yet"]]
  return savings.map((saving, i) => [i === 0 ? "layers" : "", layerLine(saving)])
}

const layerLine = ({ layer, decisions, removed }: LedgerSummary["savings"][number]) =>
  `${LAYER_LABELS[layer]}: ${pluralize(decisions, "time")}${removed > 0 ? `, ${formatCompact(removed)} tokens removed` : ""}`

/** Memories of the first conversation, and how the second one used them. */
function memoryRows({ kept, used, written }: NextDay, width: number): readonly (readonly string[])[] {
  const wrote = written.length === 0 ? "" : `; it wrote ${written.join(", ")}`
  const all = [
    ...(kept.length === 0 ? ["none kept"] : [`${formatNumber(kept.length)} kept by the first conversation`]),
    ...kept.map((text) => `- "${text}"`),
    `${formatNumber(used.length)} used by the second${wrote}`,
    ...used.map(({ text, source, age }) => `- ${text} (${source}, ${age})`),
  ]
  return all.flatMap((text) => wrappedRows(text, width)).map(([, text = ""], i) => [i === 0 ? "memories" : "", text])
}

const LARGER_WINDOWS = [200_000, 1_000_000]

type NextStep = readonly [command: string, about: string]

/** Commands that work without changes once the demo has ended. */
function nextSteps({
  strata,
  journal,
  hasKey,
  state: { thresholds },
}: Pick<DemoOutcome, "strata" | "journal" | "hasKey" | "state">): readonly NextStep[] {
  const larger = LARGER_WINDOWS.find((window) => window > thresholds.window)
  return [
    ...(journal
      ? [[`${strata} inspect ${quotePath(journal)}`, "see where the context went, file by file"] as const]
      : []),
    [`${strata} usage`, "what your own agents cost"],
    [`${strata} chat`, hasKey ? "work with a real model" : "with a real model; needs a key"],
    ...(larger ? [[`${strata} demo --window ${larger}`, "the same in a larger window"] as const] : []),
  ]
}

/** The commands, each in one line with its description or, in a narrow window, in two. */
function nextStepLines(
  steps: readonly NextStep[],
  { style, width }: { readonly style: Style; readonly width: number },
): readonly string[] {
  const column = Math.max(...steps.map(([command]) => widthOf(command)))
  const isOneLine = steps.every(([, about]) => column + widthOf(about) + 4 <= width)
  return steps.flatMap(([command, about]) =>
    isOneLine
      ? [`  ${style.cyan(command)}${" ".repeat(column - widthOf(command))}  ${about}`]
      : [`  ${style.cyan(command)}`, ...indent(wrapText(about, width - 6), 6)],
  )
}
