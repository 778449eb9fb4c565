/** The final output of the demo: a summary, the comparison with and without Strata, and one command to try next. */

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
  /** Command line of this program. */
  readonly strata: string
  readonly reader: NextStepFacts
  /** True if the journal was stored in memory. */
  readonly isInMemory?: boolean
  /** Path of the journal, if it was preserved. */
  readonly journal?: string
}

/** Facts that determine which command the user can try next. */
export interface NextStepFacts {
  /** True if a key for a real model is set. */
  readonly hasKey: boolean
  /** True if this machine has Claude Code transcripts. */
  readonly hasTranscripts: boolean
}

export function summary(
  outcome: DemoOutcome,
  { style, columns }: { style: Style; columns: number },
): readonly string[] {
  const { state, elapsedMs, artifacts, journal, nextDay } = outcome
  const { spent, size, thresholds, turn, tasks } = state
  const counts = spent?.counts
  const width = Math.min(columns, 100)
  const [command, about] = nextStep(outcome)
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
    `  ${style.cyan(command)}`,
    ...indent(wrapText(about, width - 6), 6),
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

/** One command that works without changes. */
function nextStep({
  strata,
  journal,
  reader,
}: Pick<DemoOutcome, "strata" | "journal" | "reader">): readonly [command: string, about: string] {
  if (journal) return [`${strata} inspect ${journal}`, "see where the context went, file by file"]
  if (reader.hasKey) return [`${strata} chat`, "work with a real model in the current directory"]
  if (reader.hasTranscripts)
    return [`${strata} inspect ~/.claude/projects/*/*.jsonl`, "see the same figures for your own conversations"]
  return [`${strata} demo --window 200000 --turns 400 --fast`, "a window of the usual size; needs no key"]
}
