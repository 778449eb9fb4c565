/** Prints the metrics of the offline soak. */
import { formatClockTime, formatDuration, formatNumber, formatPercent } from "../../../packages/core/src/base/text.ts"
import type { OfflineSoakReport } from "./offline.ts"
import { endsText, LABEL_WIDTH, MB, problemLines, routesOf } from "./text-report.ts"

export function offlineReport(report: OfflineSoakReport): string {
  const { options, compactions, memory } = report
  const rows: readonly (readonly [string, string])[] = [
    ["network", "off: no server, no client, no key"],
    [
      "taken in",
      `${formatNumber(report.takenIn)} tokens in ${formatNumber(report.tasks)} tasks and ${formatNumber(report.turns)} turns, with a window of ${formatNumber(options.window)}`,
    ],
    [
      "largest request",
      `${formatNumber(report.peak)} tokens (${formatPercent(report.peak, options.window)} of the window)`,
    ],
    ["compactions", `${formatNumber(compactions.length)}, the longest ${formatDuration(report.longest)}`],
    ...routesOf(compactions),
    ["notes and memories", `${formatNumber(report.notes)} and ${formatNumber(report.memories)} written`],
    ["time per turn", endsText(report.turn)],
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
