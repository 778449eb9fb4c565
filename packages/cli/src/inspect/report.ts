/** Renders an analysis: one section per topic, without empty ones. */

import type { AgentCost, CostReport } from "@strata/core/views"
import { describeAudit, formatAmountWithUnit, type LayerDecisionKind, listAuditFindings } from "@strata/page"
import type { ReplayReport } from "@strata/transcripts/replay"
import {
  formatCompact,
  formatDollars,
  formatDollarsOrUnknown,
  formatNumber,
  formatPercent,
  pluralize,
} from "../display/numbers.ts"
import { describeTotalSavings, savingLines } from "../display/savings.ts"
import { fileLine, moreLine, sectionTitle, withGap } from "../display/section.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { indent, truncate, wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import { actionsIn, actionTable } from "../replay/action-table.ts"
import { assumptions } from "../replay/page.ts"
import type { Analysis } from "./analysis.ts"
import { content, duplicates, files, results, tools } from "./content-sections.ts"
import { cache, growth, money } from "./cost-sections.ts"
import { type AnalysisPage, total } from "./page.ts"

// The section about sub-agents: the conversation, the agents it started, and what each cost. The rows add up to the total.

const MAX_AGENTS = 30
const WIDE = 90 // columns; a narrower table omits the tasks

export function agents(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { started, own, all } = analysis.agents
  if (started.length === 0) return []
  const hasRoom = width >= WIDE
  const shown = started.slice(0, MAX_AGENTS)
  return [
    ...sectionTitle(page, {
      title: "Agents",
      about: `${pluralize(started.length, "agent")} worked for this conversation`,
    }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "agent", gives: "end" },
        { title: "kind" },
        { title: "status" },
        { title: "turns", align: "right" },
        { title: "input", align: "right" },
        { title: "cached", align: "right" },
        { title: "output", align: "right" },
        { title: "cost", align: "right" },
        { title: hasRoom ? "task" : "", gives: "end" },
      ],
      rows: [
        ["this conversation", "", "", ...figures(own), ""],
        ...shown.map((agent) => [
          `└ ${nameOf(agent)}`,
          agent.kind ?? "",
          agent.status ?? "",
          ...figures(agent),
          hasRoom ? taskOf(agent) : "",
        ]),
        ["total", "", "", ...figures(all, started.some(isUnrecorded)), ""],
      ],
    }),
    ...moreLine(started.length - shown.length, "agent"),
  ]
}

const nameOf = ({ name, definition }: AgentCost): string =>
  escapeToLine(definition === undefined || definition === name ? name : `${name} (${definition})`)

const taskOf = ({ description = "" }: AgentCost): string => escapeToLine(description)

/** Whether no turn was recorded, so that the cost is unknown. */
const isUnrecorded = ({ requests }: CostReport): boolean => requests === 0

const figures = ({ requests, tokens, dollars }: CostReport, isMore = false): readonly string[] => [
  formatNumber(requests),
  formatCompact(tokens.input + tokens.cacheWrite),
  formatCompact(tokens.cacheRead),
  formatCompact(tokens.output),
  requests === 0 ? "unknown" : `${isMore && dollars !== undefined ? ">" : ""}${formatDollarsOrUnknown(dollars)}`,
]

// The section about layers 1 and 2: the actions they would have taken, and their savings compared with other policies.

const OWN_POLICY = "strata"

export function layers(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const found = analysis.layers
  const ours = found?.reports.find(({ policy }) => policy === OWN_POLICY)
  if (!found || !ours || ours.requests.length === 0) return []
  return [
    ...sectionTitle(page, { title: "Layers 1 and 2", about: "what they would have done, by replay" }),
    ...indent(wrapText(`${verdict(ours)} ${assumptions(found).join(" ")}`.trim(), width - 2), 2),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "policy" },
        { title: ours.totals.dollars === undefined ? "as input tokens" : "cost", align: "right" },
        { title: "saved", align: "right" },
        { title: "peak", align: "right" },
        { title: "cached", align: "right" },
        { title: "put aside", align: "right" },
        { title: "cleared", align: "right" },
      ],
      rows: found.reports.map((report) => {
        const cells = totals(report)
        return report.policy === OWN_POLICY ? cells.map((cell) => style.bold(cell)) : cells
      }),
    }),
    ...decisions(page, ours),
  ]
}

/** The savings of the layers, and the baseline. */
function verdict({ totals: { saved } }: ReplayReport): string {
  const than = "compared with sending everything, with the same pauses and compactions"
  if (saved.amount === 0) return `Strata changes nothing, ${than}.`
  const amount = `${formatAmountWithUnit(Math.abs(saved.amount), saved.unit)} (${formatPercent(Math.abs(saved.share), 1)})`
  return `Strata ${saved.amount > 0 ? "saves" : "costs"} ${amount}${saved.amount > 0 ? "" : " more"}, ${than}.`
}

function totals({ policy, totals: { dollars: spent, weighed, saved, peak, hitRatio, acts } }: ReplayReport): string[] {
  const cleared = acts.cleared + acts["cleared by the server"]
  return [
    policy,
    spent === undefined ? formatCompact(weighed) : formatDollars(spent),
    signedPercent(saved.share),
    formatCompact(peak),
    formatPercent(hitRatio, 1),
    acts["put aside"] === 0 ? "" : formatNumber(acts["put aside"]),
    cleared === 0 ? "" : formatNumber(cleared),
  ]
}

function decisions(look: AnalysisPage, report: ReplayReport): string[] {
  const acted = actionsIn(report)
  if (acted.length === 0) return []
  return [`  Strata would have acted ${pluralize(acted.length, "time")}:`, ...actionTable(report, look)]
}

function signedPercent(share: number): string {
  if (share === 0) return ""
  return share < 0 ? `-${formatPercent(-share, 1)}` : formatPercent(share, 1)
}

// The section about Strata's layers: their decisions, the savings, and the baseline.

const MAX_DECISIONS = 12
const WITHOUT_SIZE: ReadonlySet<LayerDecisionKind> = new Set(["undone", "cache lifetime"])

export function savings(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { decided, savings: saved } = analysis
  if (decided.length === 0 && saved.length === 0) return []
  return [
    ...sectionTitle(page, {
      title: "Layers",
      about: `${pluralize(decided.length, "decision")}; ${describeTotalSavings(saved)}`,
    }),
    ...decisionTable(page),
    ...plannedDecisions(page),
    ...checkedSummaries(page),
    ...(saved.length === 0 ? [] : ["", ...savingLines(saved, { width, style })]),
  ]
}

/** Decisions of the planner, each with its reason. */
function plannedDecisions({ analysis, width }: AnalysisPage): string[] {
  const planned = analysis.decided.filter((one) => one.planned !== undefined)
  if (planned.length === 0) return []
  const lines = planned
    .slice(-MAX_DECISIONS)
    .map(({ turn, planned: why }) => `Planned after turn ${formatNumber(turn)}: ${why}`)
  return [
    "",
    ...lines.flatMap((line) => indent(wrapText(escapeToLine(line), width - 2), 2)),
    ...moreLine(planned.length - lines.length, "planned decision"),
  ]
}

/** Result of the check of each summary, and the corrections. */
function checkedSummaries({ analysis, width }: AnalysisPage): string[] {
  const lines = analysis.decided.flatMap(({ turn, audit }) =>
    audit ? [`Summary after turn ${formatNumber(turn)}: ${describeAudit(audit)}.`, ...listAuditFindings(audit)] : [],
  )
  return lines.length === 0 ? [] : ["", ...lines.flatMap((line) => indent(wrapText(escapeToLine(line), width - 2), 2))]
}

/** The largest decisions, in chronological order. */
function decisionTable({ analysis, style, width }: AnalysisPage): string[] {
  const { decided } = analysis
  if (decided.length === 0) return []
  const shown = decided.toSorted((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0)).slice(0, MAX_DECISIONS)
  return [
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "turn", align: "right" },
        { title: "decision" },
        { title: "tokens", align: "right" },
        { title: "rewritten", align: "right" },
        { title: "about", gives: "end" },
      ],
      rows: decided
        .filter((one) => shown.includes(one))
        .map(({ turn, what, tokens, rewrites, about }) => [
          formatNumber(turn),
          what,
          tokens === undefined ? (WITHOUT_SIZE.has(what) ? "" : "?") : formatCompact(tokens),
          rewrites ? formatCompact(rewrites) : "",
          escapeToLine(about),
        ]),
    }),
    ...moreLine(decided.length - shown.length, "decision"),
  ]
}

export interface ReportOptions {
  readonly style: Style
  readonly columns: number
}

const WIDEST = 110
const MAX_NOTES = 8

export function report(analysis: Analysis, { style, columns }: ReportOptions): readonly string[] {
  const page: AnalysisPage = { analysis, style, width: Math.min(columns, WIDEST) }
  const sections = [content, tools, files, duplicates, growth, cache, money, agents, savings, layers, results, notes]
  const lines = [...heading(page), ...sections.flatMap((section) => withGap(section(page)))]
  return lines.some((line) => MORE_LINE.test(line)) ? [...lines, "", style.dim(SEE_ALL_HINT)] : lines
}

/** The line of `moreLine` at the end of a section. */
const MORE_LINE = /^ {2}and [\d,]+ more /
const SEE_ALL_HINT = '"strata inspect --json" lists everything that is left out here.'

function heading({ analysis, style, width }: AnalysisPage): string[] {
  const { file, format, title, cwd, model, time, report: read, messages, growth: course } = analysis
  const facts = [
    format,
    escapeToLine(model ?? "model unknown"),
    ...(time ? [spanOf(time)] : []),
    ...(cwd ? [escapeToLine(cwd)] : []),
  ]
  const strange = Object.entries(read.notUnderstood)
  const lost =
    strange.length === 0 ? "all understood" : `${formatNumber(total(strange.map(([, count]) => count)))} not understood`
  const size = [
    `${pluralize(read.lines, "line")}, ${lost}`,
    pluralize(messages, "message"),
    pluralize(course.sizes.length, "turn"),
    ...(course.boundaries.length > 0 ? [pluralize(course.boundaries.length, "compaction")] : []),
  ]
  return [
    fileLine(file, { style, width }),
    ...(title ? [truncate(escapeToLine(title), width)] : []),
    ...wrapText(facts.join(" · "), width),
    ...wrapText(size.join(" · "), width),
    ...strange
      .slice(0, MAX_NOTES)
      .map(([kind, count]) => style.yellow(`  not understood: ${escapeToLine(kind)} (${formatNumber(count)})`)),
    ...moreLine(strange.length - MAX_NOTES, "kind"),
  ]
}

function notes(page: AnalysisPage): string[] {
  const { analysis, width } = page
  const notes = analysis.report.notes
  if (notes.length === 0) return []
  return [
    ...sectionTitle(page, { title: "Import notes" }),
    ...notes.slice(0, MAX_NOTES).flatMap((note) => indent(wrapText(escapeToLine(note), width - 4), 2)),
    ...moreLine(notes.length - MAX_NOTES, "note"),
  ]
}

function spanOf({ from, to }: { readonly from: string; readonly to: string }): string {
  const first = from.slice(0, 16).replace("T", " ")
  const last = to.slice(0, 16).replace("T", " ")
  return first.slice(0, 10) === last.slice(0, 10) ? `${first} to ${last.slice(11)}` : `${first} to ${last}`
}
