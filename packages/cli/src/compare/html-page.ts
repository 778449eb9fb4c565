/** A comparison as the content of a page. */
import type { ReplayReport } from "@strata/core/internal"
import { type CostUnit, requestCost } from "@strata/core/internal/replay/request-cost"
import type { Scorecard } from "@strata/core/internal/replay/scorecard"
import { counted, grouped, short } from "../display/numbers.ts"
import type { Course, PageConversation, Point } from "../html/content.ts"
import type { Markup } from "../html/markup.ts"
import { page } from "../html/page.ts"
import { withShortNames } from "../html/short-names.ts"
import { costIn, LOSS_WORDS, remarksOn, timeWords, turnsOf, wholePercent } from "../replay/page.ts"
import { type Compared, costOf } from "./conversations.ts"

export function comparisonPage(card: Scorecard, all: readonly Compared[]): Markup {
  return page({
    title: "Strata: policies compared",
    about: [
      "Recorded conversations, run through each policy with the same prices and the same cache. No model was asked.",
      "Answers and pauses are as recorded. What a policy took out of the view and an answer used again is fetched and paid for.",
    ],
    scorecard: card,
    conversations: withShortNames(all.map(conversationOf)),
  })
}

function conversationOf({ recording, replay }: Compared): PageConversation {
  const unit: CostUnit = replay.reports.every(({ totals }) => totals.saved.unit === "dollars") ? "dollars" : "tokens"
  return {
    name: recording.file,
    facts: [recording.format, replay.model, counted(turnsOf(replay), "turn")],
    remarks: [...(recording.title === undefined ? [] : [recording.title]), ...remarksOn({ recording, replay })],
    unit,
    courses: replay.reports.map((report) => courseOf(report, unit)),
  }
}

export function courseOf(report: ReplayReport, unit: CostUnit): Course {
  const { policy, about, boundaries, losses, totals, usedAgain } = report
  return {
    name: policy,
    about,
    points: pointsOf(report, unit),
    boundaries,
    losses: losses.map(({ turn, tokens, why }) => ({ turn, tokens, kind: why, why: LOSS_WORDS[why] })),
    facts: [
      [unit === "dollars" ? "cost" : "tokens", costIn(costOf(report), unit)],
      ["compared with none", besideNone(report)],
      ["cached", wholePercent(totals.hitRatio)],
      ["peak tokens", short(totals.peak)],
      ["compacted", grouped(totals.compactions)],
      ["blocked", timeWords(totals.blockedMs)],
      ["names in view", usedAgain.names === 0 ? "-" : wholePercent(usedAgain.inView / usedAgain.names)],
      ["tokens fetched again", short(usedAgain.fetchedTokens)],
    ],
  }
}

function besideNone({ policy, totals: { saved } }: ReplayReport): string {
  if (policy === "none") return "-"
  return saved.amount === 0
    ? "the same"
    : `${wholePercent(Math.abs(saved.share))} ${saved.amount > 0 ? "less" : "more"}`
}

function pointsOf({ requests }: ReplayReport, unit: CostUnit): Point[] {
  const points: Point[] = []
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
