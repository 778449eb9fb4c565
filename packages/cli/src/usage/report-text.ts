/** Renders the report over all conversations for the terminal: the overview, tables and remarks, about a screen and a half. */
import { addCounts } from "@strata/core/base"
import {
  apiReasonLabel,
  type CacheMissesByCause,
  compareNames,
  type DeletedSessions,
  describeCoverage,
  FOUND_PROGRAMS,
  formatAtLeast,
  formatInterval,
  type NamedCost,
  type UsageCost,
  type UsageOverview,
  type UsageReport,
  type UsageRow,
  type UsageSavings,
} from "@strata/page"
import { sparkline } from "../display/bars.ts"
import { formatCompact, formatDollars, formatNumber, formatPercent, pluralize } from "../display/numbers.ts"
import { sectionTitle, withGap } from "../display/section.ts"
import { type Column, table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import { nextStepLines, overviewLines } from "./overview-text.ts"

export interface ReportTextOptions {
  readonly report: UsageReport
  readonly overview: UsageOverview
  /** The beginning of a command line of this program. */
  readonly strata: string
  /** The most expensive conversations. */
  readonly rows: readonly UsageRow[]
  readonly style: Style
  readonly width: number
  readonly home: string | undefined
  /** Whether the report covers only directories that the user named. */
  readonly onlyDirs: boolean
  /** Deleted sessions, shown the first time. */
  readonly gone?: DeletedSessions
}

const MAX_LINES = 4 // per table
const MAX_WORST = 3

export function reportText(page: ReportTextOptions): readonly string[] {
  const { report, style, width } = page
  const details = [money, projects, days, caches, compactions, withStrata, context]
  const sections = report.conversations === 0 ? [nextStepLines] : [conversations, nextStepLines, ...details]
  return [
    ...overviewLines(page),
    ...sections.flatMap((section) => withGap(section(page))),
    ...withGap(remarks(page).flatMap((remark) => wrapText(remark, width).map(style.dim))),
  ]
}

const right = (title: string, isMinor = false): Column => ({ title, align: "right", ...(isMinor ? { isMinor } : {}) })

function conversations({ report, rows, style, width, home }: ReportTextOptions): readonly string[] {
  return [
    ...sectionTitle(
      { style, width },
      { title: "Most expensive conversations", about: `of ${formatNumber(report.conversations)}` },
    ),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "last day" },
        { title: "program", isMinor: true },
        { title: "title", gives: "end" },
        { title: "project", gives: "beginning", isMinor: true },
        ...[right("turns", true), right("compacted", true), right("lost caches"), right("cost")],
      ],
      rows: rows.map((row) => [
        row.to?.slice(0, 10) ?? "?",
        row.program,
        escapeToLine(row.title ?? row.id),
        shortPath(row.project ?? "", home),
        formatNumber(row.turns),
        formatNumber(row.compactions),
        row.lost.count === 0 ? "-" : formatDollars(row.lost.dollars),
        costOf(row),
      ]),
    }),
  ]
}

function costOf({ cost, dollars: spent }: UsageRow): string {
  if (cost === "none") return "-"
  if (cost === "simulated") return "simulated"
  if (cost === "unknown") return "?"
  return `${formatDollars(spent)}${cost === "partly-unknown" ? "?" : cost === "lower-bound" ? "+" : ""}`
}

function money({ report, style, width }: ReportTextOptions): readonly string[] {
  const { total, byModel, byPurpose, byProgram } = report
  if (total.requests === 0) return []
  const lines = (name: string, rows: readonly NamedCost[]) => costRows(rows, { name })
  return [
    ...sectionTitle({ style, width }, { title: "Money", about: describeTotal(report) }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "by" },
        { title: "", gives: "end" },
        ...[right("conversations", true), right("requests", true), right("input", true), right("cached", true)],
        ...[right("output", true), right("cost"), right("share")],
      ],
      rows: [...lines("model", byModel), ...lines("purpose", byPurpose), ...lines("program", byProgram)],
    }),
  ]
}

function costRows(rows: readonly NamedCost[], { name }: { readonly name: string }): readonly (readonly string[])[] {
  return withRest(rows, sumCosts).map((row, at) => {
    const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = row.tokens
    const all = input + cacheRead + cacheWrite5m + cacheWrite1h
    return [
      ...[
        at === 0 ? name : "",
        escapeToLine(row.name),
        row.conversations === undefined ? "" : formatNumber(row.conversations),
        formatNumber(row.requests),
        formatCompact(all),
      ],
      ...[cacheRead === 0 ? "-" : formatPercent(cacheRead, all), formatCompact(output), describeCost(row)],
      row.unpriced === row.requests ? "" : formatPercent(row.share, 1),
    ]
  })
}

/** The first rows and, if others do not fit, their sum as the last one. A sum never stands for a single row. */
function withRest<Row, Sum>(rows: readonly Row[], sum: (rest: readonly Row[]) => Sum): readonly (Row | Sum)[] {
  return rows.length <= MAX_LINES + 1 ? rows : [...rows.slice(0, MAX_LINES), sum(rows.slice(MAX_LINES))]
}

const restTitle = (rest: readonly unknown[]): string => `and ${formatNumber(rest.length)} more`

/** Conversations are not added up, because one may be in several rows. */
function sumCosts(rest: readonly NamedCost[]): Omit<NamedCost, "conversations"> & { readonly conversations?: number } {
  const sumOf = (key: "requests" | "dollars" | "unpriced" | "estimated" | "share") =>
    rest.reduce((sum, row) => sum + row[key], 0)
  return {
    name: restTitle(rest),
    ...{ requests: sumOf("requests"), dollars: sumOf("dollars"), unpriced: sumOf("unpriced") },
    ...{ estimated: sumOf("estimated"), share: sumOf("share") },
    tokens: rest.map(({ tokens }) => tokens).reduce(addCounts),
  }
}

/** Describes a cost. Unknown is never $0. */
function describeCost({
  requests,
  unpriced,
  dollars: spent,
}: Pick<UsageCost, "requests" | "unpriced" | "dollars">): string {
  if (requests === 0) return "-"
  return unpriced === requests ? "?" : `${formatDollars(spent)}${unpriced > 0 ? "?" : ""}`
}

function describeTotal({ total }: UsageReport): string {
  const { requests, unpriced, unpricedModels, estimated, isLowerBound } = total
  const unknown =
    unpriced > 0
      ? [
          `no price is known for ${unpricedModels.slice(0, 3).map(escapeToLine).join(", ")}${unpricedModels.length > 3 ? ", …" : ""}`,
        ]
      : []
  if (unpriced === requests) return unknown.join("")
  return [
    formatAtLeast(total.dollars, isLowerBound || unpriced > 0),
    ...(estimated > 0 ? [`of which about ${formatDollars(estimated)} is estimated`] : []),
    ...unknown,
    ...(isLowerBound ? ["some transcripts record too few output tokens"] : []),
  ].join("; ")
}

function projects({ report, style, width, home }: ReportTextOptions): readonly string[] {
  const { byProject } = report
  if (byProject.length < 2) return []
  return [
    ...sectionTitle({ style, width }, { title: "Projects", about: formatNumber(byProject.length) }),
    ...table({
      width,
      columns: [{ title: "", gives: "beginning" }, right(""), right(""), right("")],
      rows: withRest(byProject, sumProjects).map((row) => [
        shortPath(row.name, home),
        pluralize(row.conversations, "conversation"),
        describeCost(row),
        row.unpriced === row.requests ? "" : formatPercent(row.share, 1),
      ]),
    }),
  ]
}

/** A conversation has one project. */
const sumProjects = (rest: readonly NamedCost[]): NamedCost => ({
  ...sumCosts(rest),
  conversations: rest.reduce((sum, { conversations }) => sum + conversations, 0),
})

const LABELS = 34 // columns for the two days and gaps

function days({ report, style, width }: ReportTextOptions): readonly string[] {
  const known = report.byDay.filter(({ day }) => day !== "unknown")
  const max = Math.max(...known.map((day) => day.dollars), 0)
  if (known.length < 2 || max === 0) return []
  const line = sparkline(
    known.map((day) => day.dollars),
    { max, width: Math.max(10, width - LABELS) },
  )
  const about = `${pluralize(known.length, "day")} with requests, at most ${formatDollars(max)} on one`
  return [
    ...sectionTitle({ style, width }, { title: "Money by day", about }),
    `  ${known[0]!.day}  ${style.cyan(line)}  ${known.at(-1)!.day}`,
  ]
}

function caches({ report, style, width }: ReportTextOptions): readonly string[] {
  const { lost, byCause, byReason, hitRatio } = report.cache
  if (lost.count === 0) return []
  const reasons = byReason
    .slice(0, MAX_LINES)
    .map(({ reason, count }) => `${escapeToLine(apiReasonLabel(reason))} ${formatNumber(count)}`)
  return [
    ...sectionTitle(
      { style, width },
      {
        title: "Lost caches",
        about: `${formatNumber(lost.count)}; ${formatPercent(hitRatio, 1)} of the input came from the cache`,
      },
    ),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "probable cause", gives: "end" },
        right("times"),
        right("paid again"),
        right("cost"),
        right("of the bill"),
      ],
      rows: withRest(byCause, sumMisses).map((one) => [
        one.words,
        formatNumber(one.count),
        formatCompact(one.tokens),
        one.unpriced === one.count ? "?" : `${formatDollars(one.dollars)}${one.unpriced > 0 ? "?" : ""}`,
        one.unpriced === one.count ? "" : formatPercent(one.share, 1),
      ]),
    }),
    ...(reasons.length > 0 ? wrapText(`  The API's own reasons: ${reasons.join(", ")}`, width) : []),
  ]
}

function sumMisses(rest: readonly CacheMissesByCause[]): Omit<CacheMissesByCause, "cause"> {
  const sumOf = (key: "count" | "tokens" | "dollars" | "unpriced" | "share") =>
    rest.reduce((sum, row) => sum + row[key], 0)
  return {
    words: restTitle(rest),
    ...{ count: sumOf("count"), tokens: sumOf("tokens"), dollars: sumOf("dollars") },
    ...{ unpriced: sumOf("unpriced"), share: sumOf("share") },
  }
}

function compactions({ report, style, width, home }: ReportTextOptions): readonly string[] {
  const { count, unrecorded, names, worst } = report.compactions
  if (count === 0) return []
  const about = [
    `${formatNumber(count)}, ${describeCost(report.compactions)}`,
    ...(names.needed > 0
      ? [`${formatNumber(names.lost)} of ${pluralize(names.needed, "name")} needed later were lost`]
      : []),
    ...(unrecorded > 0
      ? [`what ${formatNumber(unrecorded)} of them lost is unknown: their files begin with them`]
      : []),
  ]
  return [
    ...sectionTitle({ style, width }, { title: "Compactions", about: about.join("; ") }),
    ...table({
      width,
      columns: [right(""), { title: "", gives: "end" }, { title: "", gives: "end" }],
      rows: worst
        .slice(0, MAX_WORST)
        .map((row) => [
          `lost ${formatNumber(row.names.lost)} of ${formatNumber(row.names.needed)}`,
          escapeToLine(row.title ?? shortPath(row.file, home)),
          escapeToLine(row.examples.slice(0, 3).join(", ")),
        ]),
    }),
  ]
}

function withStrata({ report, style, width }: ReportTextOptions): readonly string[] {
  const { saved } = report
  const { figure, of, dearer } = saved
  const compared = describeComparison(saved)
  const names = compareNames(saved)
  if (compared === undefined) return []
  const sample = figure.kind === "sampled" ? figure.sample : of
  return [
    ...sectionTitle({ style, width }, { title: "With Strata", about: compared }),
    ...(dearer > 0
      ? wrapText(
          `${formatNumber(dearer)} of these ${pluralize(sample, "conversation")} would have cost more.`,
          width - 2,
        )
      : []
    ).map((line) => `  ${line}`),
    ...(names === undefined ? [] : wrapText(names, width - 2)).map((line) => `  ${line}`),
  ]
}

function describeComparison(saved: UsageSavings): string | undefined {
  const { figure, of } = saved
  if (figure.kind === "nothing" || figure.kind === "unknown") return undefined
  const how = `${formatPercent(Math.abs(figure.share), 1)} ${figure.share >= 0 ? "less" : "more"}`
  const money = `${describeCoverage(saved)}`
  if (figure.kind === "sampled")
    return `${how} (${formatInterval(figure)}), modelled; a sample of ${formatNumber(figure.sample)} of ${formatNumber(of)} conversations, drawn by cost, for ${money}`
  return `${formatDollars(figure.strata)} instead of ${formatDollars(figure.recorded)} (${how}), both modelled; ${pluralize(of, "conversation")}, ${money}`
}

function context({ report, style, width }: ReportTextOptions): readonly string[] {
  const shown = report.context.slice(0, MAX_LINES + 1)
  if (shown.length === 0) return []
  const parts = shown.map(({ name, share }) => `${escapeToLine(name)} ${formatPercent(share, 1)}`)
  return [
    ...sectionTitle({ style, width }, { title: "What filled the contexts", about: "estimated" }),
    ...wrapText(parts.join(" · "), width - 2).map((line) => `  ${line}`),
  ]
}

function remarks(page: ReportTextOptions): readonly string[] {
  const { report, gone } = page
  const { files, total } = report
  const { repeated } = total
  return [
    ...(repeated.responses > 0
      ? [
          `${pluralize(repeated.responses, "response")} (${formatDollars(repeated.dollars)}) ${repeated.responses === 1 ? "is" : "are"} in more than one file and counted once.`,
        ]
      : []),
    ...files.unread.map(
      ({ reason, files: count, examples }) =>
        `Not read: ${pluralize(count, "file")} (${escapeToLine(reason)}): ${namedFiles({ files: count, examples }, page)}.`,
    ),
    ...(files.damaged.files > 0
      ? [
          `${pluralize(files.damaged.lines, "line")} of ${pluralize(files.damaged.files, "file")} ${files.damaged.lines === 1 ? "is" : "are"} damaged and not counted: ${namedFiles(files.damaged, page)}.`,
        ]
      : []),
    ...(report.simulated > 0
      ? [
          `${pluralize(report.simulated, "conversation")} with the simulator cost nothing and ${report.simulated === 1 ? "is" : "are"} not counted.`,
        ]
      : []),
    ...(gone ? [describeDeleted(gone)] : []),
    ...(report.conversations === 0 && !page.onlyDirs ? [`Looked where ${FOUND_PROGRAMS} keep theirs.`] : []),
    "Days are in UTC. ?: a price is unknown. +: at least.",
    "Nothing leaves this machine.",
  ]
}

function namedFiles(
  { files, examples }: { readonly files: number; readonly examples: readonly string[] },
  { home }: ReportTextOptions,
): string {
  const rest = files - examples.length
  return `${examples.map((path) => shortPath(path, home)).join(", ")}${rest > 0 ? ` and ${formatNumber(rest)} more` : ""}`
}

function describeDeleted({ days, named, gone }: DeletedSessions): string {
  const lost =
    gone > 0
      ? ` Of ${pluralize(named, "session")} in its history, ${formatNumber(gone)} ${gone === 1 ? "is" : "are"} gone.`
      : ""
  return `Claude Code deletes transcripts after ${pluralize(days, "day")}, without asking.${lost} "strata archive" copies them before that.`
}

const shortPath = (path: string, home: string | undefined): string =>
  escapeToLine(
    home !== undefined && home !== "" && (path === home || path.startsWith(`${home}/`))
      ? `~${path.slice(home.length)}`
      : path,
  )
