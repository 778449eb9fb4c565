/** A chart of cost by day, stacked by model. For a long period, a bar covers a week or four weeks, so that no cost is omitted. */
import { formatDollars } from "@strata/core/base"
import { html, type Markup } from "./markup.ts"
import { roundToTenth, tickLabel, ticksUpTo } from "./scale.ts"

export interface Day {
  readonly day: string
  readonly dollars: number
  /** Dollars by model. */
  readonly parts: Readonly<Record<string, number>>
}

const HEIGHT = 190 // pixels
const LABEL_PIXELS = 14
const LABELS = 18
const MAX_BARS = 120
const DAY_MS = 86_400_000
/** Number of days per bar. */
const BAR_DAYS = { day: 1, week: 7, "four weeks": 28 } as const
/** Colours of the charts, in order of cost. */
const COLOURS = ["person", "results", "calls", "thinking", "answers", "summary", "whole"] as const

/** Names in order of cost. The most expensive get their own colours; the rest share one. */
export function namesByCost(days: readonly Day[]): readonly string[] {
  const sums = new Map<string, number>()
  for (const { parts } of days)
    for (const [name, paid] of Object.entries(parts)) sums.set(name, (sums.get(name) ?? 0) + paid)
  return [...sums].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
}

const colourFor = (name: string, names: readonly string[]): string =>
  COLOURS[Math.min(Math.max(0, names.indexOf(name)), COLOURS.length - 1)]!

export function dayLegend(names: readonly string[]): Markup {
  const shown = names.slice(0, COLOURS.length)
  return html`<ul class="legend">${shown.map(
    (name, i) =>
      html`<li><svg width="12" height="12" aria-hidden="true"><rect class="c-${COLOURS[i]}" width="12" height="12"/></svg> ${i === COLOURS.length - 1 && names.length > COLOURS.length ? "others" : name}</li>`,
  )}</ul>`
}

export interface DayBars {
  /** Period of one bar. */
  readonly unit: keyof typeof BAR_DAYS
  readonly days: readonly Day[]
}

export function dayChart({ unit, days }: DayBars): Markup {
  const names = namesByCost(days)
  const max = Math.max(...days.map((day) => day.dollars), 0.01)
  const width = 100 / days.length
  const y = (value: number) => roundToTenth(LABEL_PIXELS + HEIGHT * (1 - value / max))
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""]
  return html`<svg class="chart" role="img" aria-label="Money by ${unit}, from ${first} to ${last}: at most ${formatDollars(max)} in one bar." width="100%" height="${LABEL_PIXELS + HEIGHT + LABELS}">
${ticksUpTo(max).map((tick) => html`<line class="grid" x1="0" x2="100%" y1="${y(tick)}" y2="${y(tick)}"/>`)}
${days.map((day, i) => {
  let floor = 0
  const bars = names.flatMap((name) => {
    const paid = day.parts[name] ?? 0
    if (paid <= 0) return []
    const bar = html`<rect class="c-${colourFor(name, names)}" x="${roundToTenth(i * width + width * 0.1)}%" width="${roundToTenth(width * 0.8)}%" y="${y(floor + paid)}" height="${roundToTenth((HEIGHT * paid) / max)}"/>`
    floor += paid
    return [bar]
  })
  return html`<g>${bars}<rect class="slice" x="${roundToTenth(i * width)}%" width="${roundToTenth(width)}%" y="${LABEL_PIXELS}" height="${HEIGHT}"><title>${unit === "day" ? "" : `${unit} from `}${describeDay(day)}</title></rect></g>`
})}
${ticksUpTo(max)
  .filter((tick) => tick > 0)
  .map((tick) => html`<text class="tick" x="2" y="${y(tick) - 3}">${tickLabel(tick, "dollars")}</text>`)}
<text class="tick" x="0" y="${LABEL_PIXELS + HEIGHT + 13}">${first}</text><text class="tick" x="100%" y="${LABEL_PIXELS + HEIGHT + 13}" text-anchor="end">${last}</text>
</svg>`
}

function describeDay({ day, dollars: paid, parts }: Day): string {
  const max = Object.entries(parts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, each]) => `${name} ${formatDollars(each)}`)
  return [`${day}: ${formatDollars(paid)}`, ...max].join(", ")
}

/** Groups days into bars. Days without cost are included. */
export function groupIntoBars(all: readonly Day[]): DayBars {
  const days = all.filter(({ day }) => /^\d{4}-\d\d-\d\d$/.test(day)).toSorted((a, b) => (a.day < b.day ? -1 : 1))
  const [first, last] = [days[0], days.at(-1)].map((each) => Date.parse(each?.day ?? ""))
  if (days.length === 0 || first === undefined || last === undefined) return { unit: "day", days: [] }
  const units = Object.keys(BAR_DAYS) as (keyof typeof BAR_DAYS)[]
  const countOf = (unit: keyof typeof BAR_DAYS) => Math.floor((last - first) / (BAR_DAYS[unit] * DAY_MS)) + 1
  const unit = units.find((each) => countOf(each) <= MAX_BARS) ?? units.at(-1)!
  const length = BAR_DAYS[unit] * DAY_MS
  const bars = Array.from({ length: countOf(unit) }, (_, i) => ({
    day: new Date(first + i * length).toISOString().slice(0, 10),
    dollars: 0,
    parts: {} as Record<string, number>,
  }))
  for (const { day, dollars: paid, parts } of days) {
    const bar = bars[Math.floor((Date.parse(day) - first) / length)]!
    bar.dollars += paid
    for (const [name, each] of Object.entries(parts)) bar.parts[name] = (bar.parts[name] ?? 0) + each
  }
  return { unit, days: bars.slice(-MAX_BARS) }
}
