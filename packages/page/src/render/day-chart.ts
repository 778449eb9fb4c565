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

const MAX_BAR_PERCENT = 8
const MAX_LABELS = 5
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

/** Names of models without the date of their release, if they differ without it. */
function withoutDates(names: readonly string[]): readonly string[] {
  const short = names.map((name) => name.replace(/-20\d{6}$/, ""))
  return new Set(short).size === names.length ? short : names
}

export function dayLegend(names: readonly string[]): Markup {
  const shown = withoutDates(names.slice(0, COLOURS.length))
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

/** The chart is as high as its style says: everything in it has a position in percent, and labels are outside. */
export function dayChart({ unit, days }: DayBars): Markup {
  const names = namesByCost(days)
  const max = Math.max(...days.map((day) => day.dollars), 0.01)
  const width = 100 / days.length
  const barWidth = Math.min(width * 0.8, MAX_BAR_PERCENT)
  const y = (value: number) => `${roundToTenth(100 * (1 - value / max))}%`
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""]
  return html`<svg class="chart day-chart" role="img" aria-label="Money by ${unit}, from ${first} to ${last}: at most ${formatDollars(max)} in one bar." width="100%" height="150">
${ticksUpTo(max).map((tick) => html`<line class="grid" x1="0" x2="100%" y1="${y(tick)}" y2="${y(tick)}"/>`)}
${days.map((day, i) => {
  let floor = 0
  const bars = names.flatMap((name) => {
    const paid = day.parts[name] ?? 0
    if (paid <= 0) return []
    floor += paid
    return [
      html`<rect class="c-${colourFor(name, names)}" x="${roundToTenth((i + 0.5) * width - barWidth / 2)}%" width="${roundToTenth(barWidth)}%" y="${y(floor)}" height="${roundToTenth((100 * paid) / max)}%"/>`,
    ]
  })
  return html`<g>${bars}<rect class="slice" x="${roundToTenth(i * width)}%" width="${roundToTenth(width)}%" y="0" height="100%"><title>${unit === "day" ? "" : `${unit} from `}${describeDay(day)}</title></rect></g>`
})}
${ticksUpTo(max)
  .filter((tick) => tick > 0)
  .map((tick) => html`<text class="tick" x="2" y="${y(tick)}" dy="-3">${tickLabel(tick, "dollars")}</text>`)}
${dayLabels(days)}
</svg>`
}

/** Labels of all bars if there are few; otherwise of the first and the last. */
function dayLabels(days: readonly Day[]): readonly Markup[] {
  const label = (day: string, x: number, anchor: string) =>
    html`<text class="tick" x="${roundToTenth(x)}%" y="100%" dy="14" text-anchor="${anchor}">${day}</text>`
  if (days.length <= MAX_LABELS) return days.map(({ day }, i) => label(day, ((i + 0.5) * 100) / days.length, "middle"))
  return [label(days[0]!.day, 0, "start"), label(days.at(-1)!.day, 100, "end")]
}

function describeDay({ day, dollars: paid, parts }: Day): string {
  const max = Object.entries(parts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, each]) => `${name} ${formatDollars(each)}`)
  return [`${day}: ${formatDollars(paid)}`, ...max].join(", ")
}

/** Groups days into bars. Days without cost are included, unless there are too many. */
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
  // a clock that was wrong by a century must not push the real days out of the chart
  const shown = bars.length <= MAX_BARS ? bars : bars.filter(({ dollars }) => dollars > 0)
  return { unit, days: shown.slice(-MAX_BARS) }
}
