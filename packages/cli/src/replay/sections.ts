/** The sections of a replay's report: context, cost, cache, actions of the layers, and content that left the view. */
import { formatAmount, formatAmountWithUnit, formatCautiousPercent, formatDuration } from "@strata/page"
import { PURPOSES, type Purpose, type ReplayReport } from "@strata/transcripts/replay"
import { columnChart } from "../display/bars.ts"
import { formatCompact, formatNumber, formatPercent, pluralize } from "../display/numbers.ts"
import { describeCacheUse } from "../display/savings.ts"
import { moreLine, sectionTitle } from "../display/section.ts"
import { table } from "../display/table.ts"
import { indent, wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import { actionsIn, actionTable } from "./action-table.ts"
import { LOSS_LABELS, PURPOSE_NAMES, type ReplayPage } from "./page.ts"

const CHART_HEIGHT = 8
const MAX_BOUNDARIES = 6
const MAX_FAILURES = 3

export function context(page: ReplayPage): string[] {
  const { report, style, width } = page
  const { totals, boundaries } = report
  const sent = report.requests.filter(({ purpose }) => purpose === "conversation")
  if (sent.length === 0) return []
  const sizes = sent.map((request) => request.context)
  const largest = sizes.reduce((max, size) => Math.max(max, size))
  const summary = report.requests.reduce((max, each) => Math.max(max, each.purpose === "summary" ? each.context : 0), 0)
  const withSummary = summary > largest ? ` (${formatCompact(summary)} with the request for a summary)` : ""
  const invalid =
    totals.invalid === 0 ? "" : `; ${pluralize(totals.invalid, "request does", "requests do")} not fit the window`
  return [
    ...sectionTitle(page, {
      title: "Context over turns",
      about: `largest ${formatCompact(largest)} tokens${withSummary}, ${formatCompact(sizes.at(-1)!)} at the end${invalid}`,
    }),
    ...indent(
      columnChart({
        values: sizes,
        marked: boundaries.map((turn) =>
          Math.max(
            0,
            sent.findIndex((request) => request.turn >= turn),
          ),
        ),
        width: width - 2,
        height: CHART_HEIGHT,
        style,
      }),
      1,
    ),
    ...boundaries.slice(0, MAX_BOUNDARIES).map((turn) => {
      const at = sent.findIndex((request) => request.turn >= turn)
      const before = sizes[at - 1] ?? 0
      return `${" ".repeat(9)}${style.yellow("▲")} compacted before turn ${formatNumber(turn)}: ${formatCompact(before)} to ${formatCompact(sizes[at] ?? 0)}`
    }),
    ...moreLine(boundaries.length - MAX_BOUNDARIES, "compaction"),
  ]
}

export function cost(page: ReplayPage): string[] {
  const { report, style, width } = page
  const { dollars: paid, weighed, byPurpose, blockedMs } = report.totals
  const { unit } = report.totals.saved
  const whole = paid ?? weighed
  const requestsFor = (wanted: Purpose) => report.requests.filter(({ purpose }) => purpose === wanted).length
  const rows = PURPOSES.filter((purpose) => byPurpose[purpose] > 0).map((purpose) => [
    PURPOSE_NAMES[purpose],
    formatNumber(requestsFor(purpose)),
    formatAmount(byPurpose[purpose], unit),
    formatPercent(byPurpose[purpose], whole),
  ])
  const waited =
    blockedMs === 0
      ? "no wait for a summary"
      : `${formatDuration(blockedMs)} of waiting for ${pluralize(requestsFor("summary"), "summary", "summaries")}`
  const amount =
    unit === "dollars"
      ? formatAmount(whole, unit)
      : `${formatCompact(whole)} tokens of plain input (a price is unknown)`
  return [
    ...sectionTitle(page, { title: "Cost", about: `${amount}, ${describeSaved(report)}; ${waited}` }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "for", gives: "end" },
        { title: "requests", align: "right" },
        { title: unit === "dollars" ? "cost" : "tokens", align: "right" },
        { title: "share", align: "right" },
      ],
      rows,
    }),
  ]
}

export function describeSaved({ policy, totals: { saved } }: ReplayReport): string {
  if (policy === "none") return "sending everything"
  if (saved.amount === 0) return "the same as sending everything"
  return `${formatCautiousPercent(Math.abs(saved.share))} ${saved.amount > 0 ? "less" : "more"} than sending everything`
}

export function cache(page: ReplayPage): string[] {
  const { report, style, width } = page
  const { counts, hitRatio } = report.totals
  const head = sectionTitle(page, {
    title: "Cache",
    about: `${formatCautiousPercent(hitRatio)} of the input came from it: ${describeCacheUse(counts)}`,
  })
  if (report.losses.length === 0) return [...head, "  the cache was never lost"]
  const byReason = [...Map.groupBy(report.losses, ({ why }) => why)]
    .map(([why, losses]) => ({
      why,
      times: losses.length,
      tokens: losses.reduce((sum, { tokens }) => sum + tokens, 0),
    }))
    .toSorted((a, b) => b.tokens - a.tokens)
  return [
    ...head,
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "cache lost because", gives: "end" },
        { title: "times", align: "right" },
        { title: "tokens written again", align: "right" },
      ],
      rows: byReason.map(({ why, times, tokens }) => [LOSS_LABELS[why], formatNumber(times), formatCompact(tokens)]),
    }),
  ]
}

const SAVED_LABELS =
  "tokens: taken out of the context. saved: what the requests since then cost less than with everything sent, shared by the actions; below 0 they cost more."

export function actions(page: ReplayPage): string[] {
  const title = "What the layers did"
  const acted = actionsIn(page.report)
  if (acted.length === 0) return sectionTitle(page, { title, about: "nothing: every request was sent in full" })
  return [
    ...sectionTitle(page, { title, about: pluralize(acted.length, "action") }),
    ...actionTable(page.report, page),
    ...indent(wrapText(SAVED_LABELS, page.width - 2), 2).map(page.style.dim),
  ]
}

/** Content that left the view and was used again, and how much of it remained accessible. */
export function evidence(page: ReplayPage): string[] {
  const { report, width } = page
  const { names, inView, fetched, fetchedTokens, found } = report.usedAgain
  const { changedFiles, changedFilesNamed, paths, pathsTouched, rules, rulesVerbatim } = report.afterCompaction
  const missing = names - inView
  const sentences = [
    report.policy === "optimum"
      ? "It forgets nothing that an answer uses again."
      : names === 0
        ? "No answer used a name, path or number from an earlier block."
        : `Answers used ${pluralize(names, "name")} from earlier blocks; ${formatNumber(inView)} (${formatCautiousPercent(inView / names)}) were in view.`,
    ...(fetched === 0
      ? []
      : [
          `Fetched again, for names or for lines to edit: ${pluralize(fetched, "block")}, ${formatCompact(fetchedTokens)} tokens.`,
        ]),
    ...(found === undefined || missing === 0
      ? []
      : [
          `One search of the journal finds ${formatNumber(found)} of the ${formatNumber(missing)} that had left the view.`,
        ]),
    ...(changedFiles === 0
      ? []
      : [
          `Right after compactions, the view names ${formatNumber(changedFilesNamed)} of ${pluralize(changedFiles, "changed file")}.`,
        ]),
    ...(paths === 0
      ? []
      : [`Of ${pluralize(paths, "path")} written there, tools had touched ${formatNumber(pathsTouched)}.`]),
    ...(rules === 0
      ? []
      : [`${formatNumber(rulesVerbatim)} of ${pluralize(rules, "rule")} of the user are present verbatim.`]),
  ]
  return [
    ...sectionTitle(page, { title: "What left the view" }),
    ...sentences.flatMap((each) => indent(wrapText(each, width - 2), 2)),
  ]
}

const MAX_PARTS = 4

/** Difference between the modelled cost and the recorded bill. */
export function billedSection(page: ReplayPage): string[] {
  const { calibration, width } = page
  if (!calibration || calibration.bill === 0) return []
  const { bill, modelled, unit, ratios, unexplained, parts, incidents } = calibration
  const away = formatCautiousPercent(Math.abs(ratios.modelled - 1))
  const side = ratios.modelled < 1 ? "below" : "above"
  const sentences = [
    `The recorded requests were billed ${formatAmountWithUnit(bill, unit)}. The replay computes ${formatAmountWithUnit(modelled, unit)}: ${away === "0%" ? "the same" : `${away} ${side}`}.`,
    ...(incidents === 0
      ? []
      : [
          `In ${pluralize(incidents, "request")}, the server read more or less from the cache than its rules say. The replay takes that over from the recording.`,
        ]),
    ...(unexplained === 0
      ? []
      : [`For ${formatCautiousPercent(unexplained)} of the bill, the recording does not show why.`]),
  ]
  const causes = parts.filter(({ amount }) => Math.abs(amount) > bill / 200).slice(0, MAX_PARTS)
  return [
    ...sectionTitle(page, { title: "Compared with the bill" }),
    ...indent(wrapText(sentences.join(" "), width - 2), 2),
    ...causes.flatMap(({ about, amount, requests }) =>
      indent(
        wrapText(
          `${amount < 0 ? "-" : "+"}${formatAmount(Math.abs(amount), unit)} in ${pluralize(requests, "request")}: ${about}.`,
          width - 4,
        ),
        4,
      ),
    ),
  ]
}

export function failures(page: ReplayPage): string[] {
  const failed = page.report.failures
  if (failed.length === 0) return []
  return [
    ...sectionTitle(page, { title: "Failures", about: "the replay continued without the layer" }),
    ...failed.slice(0, MAX_FAILURES).flatMap((each) => indent(wrapText(escapeToLine(each), page.width - 2), 2)),
    ...moreLine(failed.length - MAX_FAILURES, "failure"),
  ]
}
