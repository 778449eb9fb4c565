/** The daily totals of a project as one text, stored among its memory files and exported on its own. The first day is the newest. */
import { ContentDiffersError, type ContentWrite, DAYS } from "./contents.ts"
import type { MemoryFiles } from "./memory-files.ts"

/** The file of the totals, among the project's memory files. */
export const SPENT = ".spent.json"

export type DailyTotals = Readonly<Record<string, number>>

interface DailyTotalsJson {
  readonly day: string
  readonly dollars: number
  readonly earlier?: DailyTotals
}

/** Returns `undefined` if there are no totals. */
export function encodeTotals(sums: DailyTotals): string | undefined {
  const [newest, ...others] = Object.entries(sums).sort(([a], [b]) => (a < b ? 1 : -1))
  if (newest === undefined) return undefined
  const [day, dollars] = newest
  const text: DailyTotalsJson = {
    day,
    dollars,
    ...(others.length === 0 ? {} : { earlier: Object.fromEntries(others) }),
  }
  return `${JSON.stringify(text)}\n`
}

/** An unreadable text counts as having no totals. */
export function decodeTotals(text: string): DailyTotals {
  try {
    const { day, dollars, earlier = {} } = JSON.parse(text) as DailyTotalsJson
    const all = Object.entries({ ...earlier, [day]: dollars })
    return Object.fromEntries(all.filter(([at, sum]) => typeof at === "string" && typeof sum === "number" && sum >= 0))
  } catch {
    return {}
  }
}

interface TotalsSplit {
  /** Number of days before the given one. */
  readonly removedDays: number
  /** The text of the remaining days. `undefined` if no day remains. */
  readonly remaining: string | undefined
}

function splitTotals(text: string, day: string): TotalsSplit {
  const all = Object.entries(decodeTotals(text))
  const kept = all.filter(([at]) => at >= day)
  return { removedDays: all.length - kept.length, remaining: encodeTotals(Object.fromEntries(kept)) }
}

/** The exported file. Empty if there are no totals. */
export function totalsFile(text: string | undefined): ReadonlyMap<string, Buffer> {
  const days = encodeTotals(decodeTotals(text ?? ""))
  return days === undefined ? new Map() : new Map([[DAYS, Buffer.from(days)]])
}

type TotalsFiles = Pick<MemoryFiles, "read" | "install">

/** Replaces existing totals only if the file says `replaces`. */
export async function writeTotals(memory: TotalsFiles, project: string, { files = [] }: ContentWrite): Promise<void> {
  for (const { name, data, replaces } of files) {
    if (name !== DAYS) continue
    const there = await memory.read(SPENT)
    const isOther = totalsFile(there).get(DAYS)?.equals(data) === false
    if (!replaces && isOther) throw new ContentDiffersError({ kind: "sums", project }, "a sum")
    await memory.install([{ path: SPENT, text: data.toString("utf8"), expected: there ?? null }])
  }
}

/** Removes the totals of earlier days. Returns how many there were. */
export async function pruneTotals(
  memory: TotalsFiles,
  { day, dryRun }: { day: string; dryRun: boolean },
): Promise<number> {
  const text = await memory.read(SPENT)
  const { removedDays, remaining } = splitTotals(text ?? "", day)
  if (removedDays > 0 && !dryRun) await memory.install([{ path: SPENT, text: remaining, expected: text ?? null }])
  return removedDays
}
