/** A report to give away: a block of text and a picture. Both have figures and our own words only: no names, paths, titles or contents. */
import { counted, dollars, percent, short } from "@strata/core/base"
import { wholePercent } from "../render/cost-words.ts"
import { html, type Markup } from "../render/markup.ts"
import type { LookReport, SpentOnDay } from "./report-data.ts"
import { intervalWords, moneyWords } from "./sentences.ts"

const MAX_CAUSES = 4

export function shareText(report: LookReport): string {
  const { total, cache, agents, saved } = report
  const lines: readonly (readonly [string, string])[] = [
    ["conversations", `${(report.conversations - report.simulated).toLocaleString("en")}${daysWords(report)}`],
    ["spent", spentWords(report)],
    ["input read from cache", percent(cache.hitRatio, 1)],
    ["lost caches", `${lossCost(report)} for ${cache.lost.count.toLocaleString("en")}`],
    ...cache.byCause
      .slice(0, MAX_CAUSES)
      .map(
        ({ words, count, dollars: cost, unpriced }) =>
          [`  ${words}`, `${unpriced === count ? "unknown" : moreThan(unpriced, cost)} for ${count}`] as const,
      ),
    ["compactions", compactionWords(report)],
    ...(agents.count === 0
      ? []
      : [["sub-agents", `${agents.count.toLocaleString("en")}, ${agentCost(agents)}`] as const]),
    ["with Strata", `${savedWords(report)}${modelledWords(report)}`],
    ...(saved.names.names === 0
      ? []
      : [
          [
            "names kept",
            `${namesWords(report)}, after ${counted(saved.names.compactions, "replayed compaction")}`,
          ] as const,
        ]),
  ]
  const width = Math.max(...lines.map(([name]) => name.length))
  const estimated = total.estimated > 0 ? [`${dollars(total.estimated)} of what was spent is estimated.`] : []
  return [
    ...lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    ...(saved.figure.kind === "sampled" || saved.figure.kind === "exact"
      ? ["Modelled figures compare with modelled figures, never with the bill."]
      : []),
    ...estimated,
  ].join("\n")
}

const daysWords = ({ byDay }: LookReport): string => (byDay.length === 0 ? "" : ` on ${counted(byDay.length, "day")}`)

function spentWords({ total }: LookReport): string {
  if (total.requests === 0) return "not recorded"
  if (total.unpriced === total.requests) return "unknown"
  return `${total.isLowerBound || total.unpriced > 0 ? "more than " : ""}${dollars(total.dollars)}`
}

function lossCost({ cache: { lost } }: LookReport): string {
  if (lost.count > 0 && lost.unpriced === lost.count) return "unknown"
  return `${moreThan(lost.unpriced, lost.dollars)}${lost.share > 0 ? ` (${percent(lost.share, 1)} of the bill)` : ""}`
}

const moreThan = (unpriced: number, paid: number): string => `${unpriced > 0 ? "more than " : ""}${dollars(paid)}`

/** What all compactions lost is left out where the same names are compared under both policies. */
function compactionWords({ compactions: { count, names }, saved }: LookReport): string {
  if (count === 0) return "none"
  const lost =
    names.needed === 0 || saved.names.names > 0
      ? ""
      : `; lost ${percent(names.lost, names.needed)} of ${short(names.needed)} names needed later`
  return `${count.toLocaleString("en")}${lost}`
}

function savedWords({ saved: { figure } }: LookReport): string {
  if (figure.kind === "nothing") return "nothing to compare"
  if (figure.kind === "unknown") return "not known yet"
  const how = `${percent(Math.abs(figure.share), 1)} ${figure.share >= 0 ? "less" : "more"}`
  if (figure.kind === "sampled") return `${how} (${intervalWords(figure)})`
  return `${dollars(figure.strata)} instead of ${dollars(figure.recorded)} (${how})`
}

function modelledWords({ saved }: LookReport): string {
  const { figure, of } = saved
  if (figure.kind === "sampled")
    return `, modelled on a sample of ${figure.sample} of ${of} conversations for ${moneyWords(saved)}`
  return figure.kind === "exact" ? `, modelled on ${counted(of, "conversation")}, ${moneyWords(saved)}` : ""
}

function namesWords({ saved: { names } }: LookReport): string {
  const { names: all, recorded, strata } = names
  return `${wholePercent(recorded / all)} of ${short(all)}, with Strata ${wholePercent(strata / all)}`
}

function agentCost({ count, unknown, dollars: paid }: LookReport["agents"]): string {
  return unknown === count ? "unknown" : moreThan(unknown, paid)
}

/** Whether a picture can be made: not before it is known what Strata would have saved, unless no one can. */
export const isPictureReady = ({ saved }: LookReport): boolean => saved.figure.kind !== "unknown"

const WIDTH = 1_200
const HEIGHT = 630
const LEFT = 64
const CHART = { top: 392, height: 150, width: WIDTH - 2 * LEFT }

/** How every picture begins, so that a program can tell it from other files. */
export const PICTURE_BEGINNING = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by strata usage -->'

/** An SVG file. */
export function sharePicture(report: LookReport): string {
  const facts: readonly (readonly [string, string])[] = [
    ["spent", spentWords(report)],
    ["lost to broken caches", lossCost(report)],
    ["compactions", compactionWords(report)],
    ["with Strata", savedWords(report)],
    ...(report.saved.names.names === 0 ? [] : [["names kept", namesWords(report)] as const]),
  ]
  const rows = facts.map(
    ([name, value], at) => html`<text x="${LEFT}" y="${170 + 52 * at}" class="name">${name}</text>
<text x="${LEFT + 330}" y="${170 + 52 * at}" class="value">${value}</text>`,
  )
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${report.conversations - report.simulated} conversations: what they cost">
<style>.page{fill:#fbfaf7}.title{font:600 40px system-ui,sans-serif;fill:#1c1917}.name{font:400 26px system-ui,sans-serif;fill:#78716c}.value{font:600 26px system-ui,sans-serif;fill:#1c1917}.small{font:400 18px system-ui,sans-serif;fill:#78716c}.bar{fill:#b45309}</style>
<rect class="page" width="${WIDTH}" height="${HEIGHT}"/>
<text x="${LEFT}" y="96" class="title">${counted(report.conversations - report.simulated, "conversation")}${daysWords(report)}</text>
${rows}
${bars(report.byDay)}
<text x="${LEFT}" y="${HEIGHT - 36}" class="small">Money by day. With Strata${modelledWords(report) || `: ${savedWords(report)}`}. Made with strata usage.</text>
</svg>`
  return `${PICTURE_BEGINNING}\n${svg.toString()}\n`
}

const MAX_BARS = 120

/** The newest days, without the days between them. */
function bars(days: readonly SpentOnDay[]): readonly Markup[] {
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
