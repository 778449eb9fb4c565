/** Prints the figures of the soak with the network off. */
import { clockTime, duration, grouped, percent } from "../../../packages/core/src/base/text.ts"
import type { OfflineSoakReport } from "./offline.ts"
import { endsText, LABEL_WIDTH, MB, problemLines, routesOf } from "./text-report.ts"

export function offlineReport(report: OfflineSoakReport): string {
  const { options, compactions, memory } = report
  const rows: readonly (readonly [string, string])[] = [
    ["network", "off: no server, no client, no key"],
    [
      "taken in",
      `${grouped(report.takenIn)} tokens in ${grouped(report.tasks)} tasks and ${grouped(report.turns)} turns, with a window of ${grouped(options.window)}`,
    ],
    ["largest request", `${grouped(report.peak)} tokens (${percent(report.peak, options.window)} of the window)`],
    ["compactions", `${grouped(compactions.length)}, the longest ${duration(report.longest)}`],
    ...routesOf(compactions),
    ["notes and memories", `${grouped(report.notes)} and ${grouped(report.memories)} written`],
    ["time per turn", endsText(report.turn)],
    ["memory at the end", `${grouped(memory.heap / MB)} MB heap, ${grouped(memory.resident / MB)} MB resident`],
    ["run time", clockTime(report.seconds * 1_000)],
    ["seed", String(options.seed)],
  ]
  const lines = rows.map(([label, text]) => `${label.padEnd(LABEL_WIDTH)}${text}`)
  return [...lines, "", ...problemLines(report.problems)].join("\n")
}
