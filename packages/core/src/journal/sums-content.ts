/** The sums of a project's days as one text, which is kept in its memory and given out by itself. The first day is the newest. */
import { type ContentChange, ContentDiffersError, DAYS } from "./contents.ts"
import type { MemoryFiles } from "./memory-files.ts"

/** The text, in the memory of the project. */
export const SPENT = ".spent.json"

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

interface SumsBefore {
  /** How many days are before it. */
  readonly earlier: number
  /** The text without them. Nothing: no other day is left. */
  readonly kept: string | undefined
}

function sumsBefore(text: string, day: string): SumsBefore {
  const all = Object.entries(sumsIn(text))
  const kept = all.filter(([at]) => at >= day)
  return { earlier: all.length - kept.length, kept: sumsText(Object.fromEntries(kept)) }
}

/** As it is given out. Empty without sums. */
export function sumsFile(text: string | undefined): ReadonlyMap<string, Buffer> {
  const days = sumsText(sumsIn(text ?? ""))
  return days === undefined ? new Map() : new Map([[DAYS, Buffer.from(days)]])
}

type SumsPlace = Pick<MemoryFiles, "read" | "install">

/** Other sums that are there are replaced only if the change says so. */
export async function writeSums(memory: SumsPlace, project: string, { files = [] }: ContentChange): Promise<void> {
  for (const { name, data, replaces } of files) {
    if (name !== DAYS) continue
    const there = await memory.read(SPENT)
    const isOther = sumsFile(there).get(DAYS)?.equals(data) === false
    if (!replaces && isOther) throw new ContentDiffersError({ kind: "sums", project }, "a sum")
    await memory.install([{ path: SPENT, text: data.toString("utf8"), expected: there ?? null }])
  }
}

/** Removes the sums of earlier days. How many there were. */
export async function pruneSums(memory: SumsPlace, { day, dryRun }: { day: string; dryRun: boolean }): Promise<number> {
  const text = await memory.read(SPENT)
  const { earlier, kept } = sumsBefore(text ?? "", day)
  if (earlier > 0 && !dryRun) await memory.install([{ path: SPENT, text: kept, expected: text ?? null }])
  return earlier
}
