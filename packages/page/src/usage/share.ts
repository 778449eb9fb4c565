/**
 * A report for sharing, as text and as a picture. Both contain only numbers and Strata's own words: no names, paths, titles or contents.
 */
import { formatCompact, formatDollars, formatPercent, pluralize } from "@strata/core/base"
import { formatCautiousPercent } from "../render/format.ts"
import { html, type Markup } from "../render/markup.ts"
import type { DayCost, UsageReport } from "./report-data.ts"
import { atLeastNote, describeCoverage, formatAtLeast, formatInterval, reasonsForParts } from "./sentences.ts"

const MAX_CAUSES = 4

export function shareText(report: UsageReport): string {
  const { total, cache, agents, saved } = report
  const lines: readonly (readonly [string, string])[] = [
    ["conversations", `${(report.conversations - report.simulated).toLocaleString("en")}${describeDays(report)}`],
    ["spent", formatCost(report)],
    ["input read from cache", formatPercent(cache.hitRatio, 1)],
    ["lost caches", `${formatMissCost(report)} for ${cache.lost.count.toLocaleString("en")}`],
    ...cache.byCause
      .slice(0, MAX_CAUSES)
      .map(
        ({ words, count, dollars: cost, unpriced }) =>
          [`  ${words}`, `${unpriced === count ? "unknown" : formatAtLeast(cost, unpriced > 0)} for ${count}`] as const,
      ),
    ["compactions", describeCompactions(report)],
    ...(agents.count === 0
      ? []
      : [["sub-agents", `${agents.count.toLocaleString("en")}, ${formatAgentCost(agents)}`] as const]),
    ["with Strata", `${describeSaving(report)}${describeModel(report)}`],
    ...(saved.names.names === 0
      ? []
      : [
          [
            "names kept",
            `${describeNames(report)}, after ${pluralize(saved.names.compactions, "replayed compaction")}`,
          ] as const,
        ]),
  ]
  const width = Math.max(...lines.map(([name]) => name.length))
  const note = atLeastNote([
    ...reasonsForParts(report),
    ...(agents.unknown > 0 ? ["some sub-agents record no cost"] : []),
  ])
  const estimated = total.estimated > 0 ? [`${formatDollars(total.estimated)} of what was spent is estimated.`] : []
  return [
    ...lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    ...(saved.figure.kind === "sampled" || saved.figure.kind === "exact"
      ? ["Modelled figures compare with modelled figures, never with the bill."]
      : []),
    ...estimated,
    ...(note === undefined ? [] : [note]),
  ].join("\n")
}

const describeDays = ({ byDay }: UsageReport): string =>
  byDay.length === 0 ? "" : ` on ${pluralize(byDay.length, "day")}`

function formatCost({ total }: UsageReport): string {
  if (total.requests === 0) return "not recorded"
  if (total.unpriced === total.requests) return "unknown"
  return formatAtLeast(total.dollars, total.isLowerBound || total.unpriced > 0)
}

function formatMissCost({ cache: { lost } }: UsageReport): string {
  if (lost.count > 0 && lost.unpriced === lost.count) return "unknown"
  return `${formatAtLeast(lost.dollars, lost.unpriced > 0)}${lost.share > 0 ? ` (${formatPercent(lost.share, 1)} of the bill)` : ""}`
}

/** Describes compactions. The total loss is omitted if the same names are compared under both policies. */
function describeCompactions({ compactions: { count, names }, saved }: UsageReport): string {
  if (count === 0) return "none"
  const lost =
    names.needed === 0 || saved.names.names > 0
      ? ""
      : `; lost ${formatPercent(names.lost, names.needed)} of ${formatCompact(names.needed)} names needed later`
  return `${count.toLocaleString("en")}${lost}`
}

function describeSaving({ saved: { figure } }: UsageReport): string {
  if (figure.kind === "nothing") return "nothing to compare"
  if (figure.kind === "unknown") return "not known yet"
  const how = `${formatPercent(Math.abs(figure.share), 1)} ${figure.share >= 0 ? "less" : "more"}`
  if (figure.kind === "sampled") return `${how} (${formatInterval(figure)})`
  return `${formatDollars(figure.strata)} instead of ${formatDollars(figure.recorded)} (${how})`
}

function describeModel({ saved }: UsageReport): string {
  const { figure, of } = saved
  if (figure.kind === "sampled")
    return `, modelled on a sample of ${figure.sample} of ${of} conversations for ${describeCoverage(saved)}`
  return figure.kind === "exact" ? `, modelled on ${pluralize(of, "conversation")}, ${describeCoverage(saved)}` : ""
}

function describeNames({ saved: { names } }: UsageReport): string {
  const { names: all, recorded, strata } = names
  return `${formatCautiousPercent(recorded / all)} of ${formatCompact(all)}, with Strata ${formatCautiousPercent(strata / all)}`
}

function formatAgentCost({ count, unknown, dollars: paid }: UsageReport["agents"]): string {
  return unknown === count ? "unknown" : formatAtLeast(paid, unknown > 0)
}

/** Whether a picture can be created: the savings must be known, or impossible to estimate. */
export const isPictureReady = ({ saved }: UsageReport): boolean => saved.figure.kind !== "unknown"

const WIDTH = 1_200
const HEIGHT = 630
const LEFT = 64
const CHART = { top: 392, height: 150, width: WIDTH - 2 * LEFT }

/** The beginning of every picture, which distinguishes it from other files. */
export const PICTURE_PREFIX = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by strata usage -->'

/** Renders the report as an SVG file. */
export function sharePicture(report: UsageReport): string {
  const facts: readonly (readonly [string, string])[] = [
    ["spent", formatCost(report)],
    ["lost to broken caches", formatMissCost(report)],
    ["compactions", describeCompactions(report)],
    ["with Strata", describeSaving(report)],
    ...(report.saved.names.names === 0 ? [] : [["names kept", describeNames(report)] as const]),
  ]
  const note = atLeastNote(reasonsForParts(report))
  const rows = facts.map(
    ([name, value], at) => html`<text x="${LEFT}" y="${170 + 52 * at}" class="name">${name}</text>
<text x="${LEFT + 330}" y="${170 + 52 * at}" class="value">${value}</text>`,
  )
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${report.conversations - report.simulated} conversations: what they cost">
<style>.page{fill:#fbfaf7}.title{font:600 40px system-ui,sans-serif;fill:#1c1917}.name{font:400 26px system-ui,sans-serif;fill:#78716c}.value{font:600 26px system-ui,sans-serif;fill:#1c1917}.small{font:400 18px system-ui,sans-serif;fill:#78716c}.bar{fill:#b45309}</style>
<rect class="page" width="${WIDTH}" height="${HEIGHT}"/>
<text x="${LEFT}" y="96" class="title">${pluralize(report.conversations - report.simulated, "conversation")}${describeDays(report)}</text>
${rows}
${bars(report.byDay)}
${note === undefined ? undefined : html`<text x="${LEFT}" y="${HEIGHT - 12}" class="small">${note}</text>`}
<text x="${LEFT}" y="${HEIGHT - 36}" class="small">Money by day. With Strata${describeModel(report) || `: ${describeSaving(report)}`}. Made with strata usage.</text>
</svg>`
  return `${PICTURE_PREFIX}\n${svg.toString()}\n`
}

const MAX_BARS = 120

/** Bars for the most recent days with costs. */
function bars(days: readonly DayCost[]): readonly Markup[] {
  const shown = days.slice(-MAX_BARS)
  const max = Math.max(...shown.map((day) => day.dollars), 0)
  if (max === 0) return []
  const step = CHART.width / shown.length
  return shown.map(({ dollars: cost }, at) => {
    const height = Math.max(1, (CHART.height * cost) / max)
    const [x, y] = [LEFT + at * step, CHART.top + CHART.height - height]
    return html`<rect class="bar" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(1, step - 2).toFixed(1)}" height="${height.toFixed(1)}"/>`
  })
}
