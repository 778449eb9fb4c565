/** The sums of a project's days as one text. The first day is the newest. */

export type DaySums = Readonly<Record<string, number>>

interface SumsText {
  readonly day: string
  readonly dollars: number
  readonly earlier?: DaySums
}

/** Nothing without sums. */
export function sumsText(sums: DaySums): string | undefined {
  const [newest, ...others] = Object.entries(sums).sort(([a], [b]) => (a < b ? 1 : -1))
  if (newest === undefined) return undefined
  const [day, dollars] = newest
  const text: SumsText = { day, dollars, ...(others.length === 0 ? {} : { earlier: Object.fromEntries(others) }) }
  return `${JSON.stringify(text)}\n`
}

/** A text that cannot be read has no sums, as for a budget. */
export function sumsIn(text: string): DaySums {
  try {
    const { day, dollars, earlier = {} } = JSON.parse(text) as SumsText
    const all = Object.entries({ ...earlier, [day]: dollars })
    return Object.fromEntries(all.filter(([at, sum]) => typeof at === "string" && typeof sum === "number" && sum >= 0))
  } catch {
    return {}
  }
}

export interface SumsBefore {
  /** How many days are before it. */
  readonly earlier: number
  /** The text without them. Nothing: no other day is left. */
  readonly kept: string | undefined
}

export function sumsBefore(text: string, day: string): SumsBefore {
  const all = Object.entries(sumsIn(text))
  const kept = all.filter(([at]) => at >= day)
  return { earlier: all.length - kept.length, kept: sumsText(Object.fromEntries(kept)) }
}
