/** `strata compare`: policies side by side on recorded conversations, as a table, as JSON and as a page. */

import { basename } from "node:path"
import {
  type Course,
  costIn,
  type Markup,
  type PageConversation,
  type Point,
  page,
  timeWords,
  wholePercent,
  withShortNames,
} from "@strata/page"
import {
  ALL_POLICIES,
  type CostUnit,
  REFERENCES,
  type ReplayReport,
  requestCost,
  type Scorecard,
  scorecard,
  timedReplay,
} from "@strata/replay"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { COMPARE } from "../descriptions.ts"
import { counted, grouped, short } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"
import { wrapped } from "../display/text.ts"
import { visibleJson } from "../display/visible.ts"
import { checkPagePlace, writePage } from "../html/file.ts"
import { overFiles } from "../inspect/over-files.ts"
import { replayOptions } from "../replay/command.ts"
import { namedPolicies } from "../replay/named-policies.ts"
import { LOSS_WORDS, remarksOn, turnsOf } from "../replay/page.ts"
import { recordings } from "../replay/recordings.ts"
import { type Compared, conversationTable, costOf } from "./conversations.ts"
import { scoreTable } from "./score-table.ts"

const WIDEST = 160

export const run: Run = async ({ args, cwd, terminal }) => {
  const { values, operands: files } = readArguments(COMPARE, args)
  const policies = values.policies === undefined ? ALL_POLICIES : namedPolicies(values.policies, REFERENCES)
  const place = values.html === undefined ? undefined : await checkPagePlace(values.html, cwd)
  const all: Compared[] = []
  const code = await overFiles(terminal, async ({ progress, complain }) => {
    for await (const recording of recordings({ command: COMPARE.name, files, ...values, complain })) {
      const onPolicy = (name: string) => progress.show(`${basename(recording.file)} with ${name}`, recording.at)
      const options = { policies, onPolicy, ...replayOptions(values) }
      all.push({ recording, ...(await timedReplay(recording.conversation, options)) })
    }
  })
  if (all.length === 0) {
    terminal.complain(`There is nothing to compare: none of the ${counted(files.length, "file")} could be read.\n`)
    return code
  }
  const card = scorecard(all)
  if (values.json) terminal.print(`${visibleJson(asJson(card, all), 2)}\n`)
  else terminal.print(`${report(card, all, terminal).join("\n")}\n`)
  if (place !== undefined) await writePage(place, comparisonPage(card, all), terminal)
  return code
}

function report(card: Scorecard, all: readonly Compared[], { style, columns }: Terminal): string[] {
  const width = Math.min(columns, WIDEST)
  const remarks = new Set(all.flatMap(remarksOn))
  return [
    style.bold(
      `${counted(card.scores.length, "policy", "policies")} on ${counted(card.conversations, "conversation")}`,
    ),
    ...[...remarks].flatMap((remark) => wrapped(all.length > 1 ? `For some: ${remark}` : remark, width)).map(style.dim),
    "",
    ...scoreTable(card, { style, width }),
    ...(all.length > 1 ? ["", ...conversationTable(all, { style, width })] : []),
  ]
}

const asJson = (card: Scorecard, all: readonly Compared[]) => ({
  scorecard: card,
  conversations: all.map(({ recording: { conversation: _, at: __, ...about }, replay, processingMs }) => ({
    ...about,
    ...replay,
    processingMs,
  })),
})

/** A comparison as the content of a page. */
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

function courseOf(report: ReplayReport, unit: CostUnit): Course {
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
