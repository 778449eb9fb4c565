/** Prints the metrics of the soak as text. */
import { PURPOSE_LABELS } from "@strata/core/views"
import {
  formatClockTime,
  formatDollars,
  formatDollarsOrUnknown,
  formatDuration,
  formatNumber,
  formatPercent,
} from "../../../packages/core/src/base/text.ts"
import type { SoakReport } from "./run.ts"
import type { TurnTimes } from "./turn-times.ts"
import type { CompactionSeen } from "./watch.ts"

export const MB = 1024 * 1024
export const LABEL_WIDTH = 24

export function textReport(report: SoakReport): string {
  const { spent, blocked, memory, compactions, options } = report
  const rows: readonly (readonly [string, string])[] = [
    [
      "taken in",
      `${formatNumber(report.takenIn)} tokens in ${formatNumber(report.tasks)} tasks, with a window of ${formatNumber(options.window)}`,
    ],
    [
      "requests",
      spent.byPurpose.map(({ purpose, requests }) => `${formatNumber(requests)} ${PURPOSE_LABELS[purpose]}`).join(", "),
    ],
    [
      "largest request",
      `${formatNumber(report.peak)} tokens (${formatPercent(report.peak, options.window)} of the window)`,
    ],
    ["compactions", `${formatNumber(compactions.length)}`],
    ...routesOf(compactions),
    [
      "waited for summaries",
      `${Math.round(blocked.simulated / 1_000)} s of simulated time, for ${blocked.times} of ${compactions.length} compactions; a summary takes ${options.summarySeconds ?? 30} s`,
    ],
    [
      "results",
      `${formatNumber(report.putAside)} put aside, ${formatNumber(report.cleared)} cleared; the server cleared ${formatNumber(report.clearedByServer)} times`,
    ],
    ["notes written", formatNumber(report.notes)],
    ["read from cache", `${formatPercent(spent.hitRatio, 1)} of the input`],
    [
      "cost",
      `${formatDollars(spent.dollars)}: ${spent.byPurpose.map((each) => `${PURPOSE_LABELS[each.purpose]} ${formatDollarsOrUnknown(each.dollars)}`).join(", ")}`,
    ],
    ...replayedRows(report.replayed),
    ...memoryRows(report.memoryWork),
    ["time per turn", endsText(report.turn)],
    ["  in the library", endsText(report.own)],
    [
      "memory at the end",
      `${formatNumber(memory.heap / MB)} MB heap, ${formatNumber(memory.resident / MB)} MB resident`,
    ],
    ["run time", formatClockTime(report.seconds * 1_000)],
    ["seed", String(options.seed)],
  ]
  const lines = rows.map(([label, text]) => `${label.padEnd(LABEL_WIDTH)}${text}`)
  return [...lines, "", ...problemLines(report.problems)].join("\n")
}

export const problemLines = (problems: readonly string[]): readonly string[] =>
  problems.length === 0 ? ["Nothing went wrong."] : ["What went wrong:", ...problems.map((problem) => `- ${problem}`)]

function replayedRows(found: SoakReport["replayed"]): readonly (readonly [string, string])[] {
  if (!found) return []
  const { billed, replayed } = found
  const part = (label: string, says: number, paid: number): readonly [string, string] => [
    `  ${label}`,
    `${formatDollars(says)} of ${formatDollars(paid)} billed (${formatPercent(says, paid)})`,
  ]
  return [
    part("by the replay", replayed.dollars, billed.dollars),
    part("  the conversation", replayed.conversation + replayed.recalls, billed.conversation),
    part("  summaries", replayed.summaries, billed.summaries),
    ["    compactions", `${replayed.compactions} of ${billed.compactions}`],
    ["    unexplained", formatDollars(billed.dollars - replayed.dollars)],
  ]
}

function memoryRows(work: SoakReport["memoryWork"]): readonly (readonly [string, string])[] {
  const { conversations, percent: share, byPurpose, kept, superseded, recalled, dreams, breaks } = work
  const parts = byPurpose.map((each) => `${PURPOSE_LABELS[each.purpose]} ${each.percent.toFixed(1)}%`).join(", ")
  const causes = Object.entries(breaks).map(([cause, count]) => `${count} ${cause}`)
  return [
    [
      "memory work",
      `${share.toFixed(1)}% of ${formatDollars(work.dollars)} in ${formatNumber(conversations)} conversations: ${parts}`,
    ],
    [
      "",
      `${formatNumber(kept)} memories and ${formatNumber(superseded)} superseded, ${formatNumber(recalled)} recalled in the main conversation, ${formatNumber(dreams)} dreams`,
    ],
    ["cache breaks", causes.length === 0 ? "none" : causes.join(", ")],
  ]
}

export const endsText = ({ first, last }: TurnTimes) =>
  `${formatDuration(first)} in the first tenth, ${formatDuration(last)} in the last (${(last / first).toFixed(2)} times)`

export function routesOf(compactions: readonly CompactionSeen[]): readonly (readonly [string, string])[] {
  return [...Map.groupBy(compactions, ({ route }) => route)].map(([route, own]) => {
    const mean = (of: (each: CompactionSeen) => number) =>
      formatNumber(own.reduce((sum, each) => sum + of(each), 0) / own.length)
    return [
      `  ${route}`,
      `${own.length}, on average ${mean(({ before }) => before)} to ${mean(({ after }) => after)} tokens`,
    ]
  })
}
