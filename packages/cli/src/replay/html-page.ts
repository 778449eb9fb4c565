/** Replayed conversations as the content of a page. Each policy is a separate timeline. */
import {
  type ChartTimeline,
  formatAmount,
  formatCautiousPercent,
  formatDuration,
  type Markup,
  type PageConversation,
  page,
  type TimelinePoint,
  withShortNames,
} from "@strata/page"
import { type CostUnit, type ReplayReport, requestCost } from "@strata/transcripts/replay"
import { reportCost } from "../compare/conversations.ts"
import { formatCompact, formatNumber, pluralize } from "../display/numbers.ts"
import { formatTurns, LOSS_LABELS, replayRemarks } from "./page.ts"
import type { ReplayResult } from "./report.ts"

export const replayPage = (all: readonly ReplayResult[]): Markup =>
  page({
    title: `Strata: replayed with the policy ${all[0]?.report.policy ?? "strata"}`,
    description: [
      all[0]?.report.about ?? "",
      "No model was asked. Answers and pauses are as recorded. If an answer uses content that the policy removed, fetching it again is charged.",
    ].filter(Boolean),
    conversations: withShortNames(all.map(toPageConversation)),
  })

export function toPageConversation({
  recording,
  replay,
}: Pick<ReplayResult, "recording" | "replay">): PageConversation {
  const unit: CostUnit = replay.reports.every(({ totals }) => totals.saved.unit === "dollars") ? "dollars" : "tokens"
  return {
    name: recording.file,
    facts: [recording.format, replay.model, pluralize(formatTurns(replay), "turn")],
    remarks: [...(recording.title === undefined ? [] : [recording.title]), ...replayRemarks({ recording, replay })],
    unit,
    timelines: replay.reports.map((report) => policyTimeline(report, unit)),
  }
}

function policyTimeline(report: ReplayReport, unit: CostUnit): ChartTimeline {
  const { policy, about: description, boundaries, losses, totals, usedAgain } = report
  return {
    name: policy,
    description,
    points: timelinePoints(report, unit),
    boundaries,
    misses: losses.map(({ turn, tokens, why }) => ({ turn, tokens, kind: why, reason: LOSS_LABELS[why] })),
    facts: [
      [unit === "dollars" ? "cost" : "tokens", formatAmount(reportCost(report), unit)],
      ["compared with none", compareWithNone(report)],
      ["cached", formatCautiousPercent(totals.hitRatio)],
      ["peak tokens", formatCompact(totals.peak)],
      ["compacted", formatNumber(totals.compactions)],
      ["blocked", formatDuration(totals.blockedMs)],
      ["names in view", usedAgain.names === 0 ? "-" : formatCautiousPercent(usedAgain.inView / usedAgain.names)],
      ["tokens fetched again", formatCompact(usedAgain.fetchedTokens)],
    ],
  }
}

function compareWithNone({ policy, totals: { saved } }: ReplayReport): string {
  if (policy === "none") return "-"
  return saved.amount === 0
    ? "the same"
    : `${formatCautiousPercent(Math.abs(saved.share))} ${saved.amount > 0 ? "less" : "more"}`
}

function timelinePoints({ requests }: ReplayReport, unit: CostUnit): TimelinePoint[] {
  const points: TimelinePoint[] = []
  let [paid, last] = [0, 0]
  for (const request of requests) {
    paid += requestCost(request, unit)
    const { turn, context, classes, purpose } = request
    if (purpose === "conversation") {
      points.push({ turn, context, ...(classes ? { classes } : {}), cost: paid })
      last = turn
    } else if (turn === last) points[points.length - 1] = { ...points.at(-1)!, cost: paid }
  }
  return points
}
