/** Renders the state of dreams: the running one, its actions, changes that wait for consent, and when the next may start. */
import type { DreamOverview, DreamState } from "@strata/core/memory"
import { dreamProgress } from "@strata/page"
import { formatDollars, formatTimeAgo } from "../display/numbers.ts"
import { wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"

const TURNS_SHOWN = 5

export interface DreamStatusLayout {
  readonly columns: number
  readonly now: Date
}

export function statusLines(overview: DreamOverview, { columns, now }: DreamStatusLayout): readonly string[] {
  const { dream, pending, gates, skipped, today } = overview
  const sentences = [
    dream?.status === "running" ? describeRunning(dream, now) : describeLastDream(dream, now),
    pending ? `A change waits for your consent: ${pending.reason} See: strata dream review` : "",
    skipped ? `A dream was skipped ${formatTimeAgo(new Date(skipped.at), now)}. ${skipped.message}` : "",
    gates.open ? "The next dream may start after a query." : gates.reason,
    today ? `Memory work has cost ${formatDollars(today.spent)} today, of at most ${formatDollars(today.limit)}.` : "",
  ]
  return [
    ...sentences.filter(Boolean).flatMap((sentence) => wrapText(escapeToLine(sentence), columns)),
    ...(dream?.status === "running" ? turnLines(dream, columns) : []),
  ]
}

const describeRunning = (dream: DreamState, now: Date): string =>
  `A dream runs in process ${dream.pid}, started ${formatTimeAgo(new Date(dream.startedAt), now)}: ${dreamProgress(dream)}.`

function describeLastDream(dream: DreamState | undefined, now: Date): string {
  if (!dream) return "No dream runs, and there has been none yet."
  const ended = dream.endedAt === undefined ? "" : ` ${formatTimeAgo(new Date(dream.endedAt), now)}`
  return [`No dream runs. The last one ${dream.status}${ended}.`, describeDreamCost(dream), dream.message]
    .filter(Boolean)
    .join(" ")
}

/** Describes the cost of a dream. Empty if nothing was billed. */
export const describeDreamCost = (dream: Pick<DreamState, "dollars"> | undefined): string =>
  dream?.dollars ? `It cost ${formatDollars(dream.dollars)}.` : ""

function turnLines({ turns }: DreamState, columns: number): readonly string[] {
  return turns
    .slice(-TURNS_SHOWN)
    .flatMap(({ text, calls }) => [text, ...calls])
    .filter((line) => line.trim() !== "")
    .map((line) => `  ${wrapText(escapeToLine(line), columns - 2)[0] ?? ""}`)
}
