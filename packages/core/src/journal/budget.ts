/** The part of the `Store` port that adds up what the processes of a project spend. */
import { changedText } from "./changed-text.ts"
import type { MemoryFiles } from "./memory-files.ts"
import { type DaySums, sumsIn, sumsText } from "./sums-content.ts"

/** Dollars by day. A day is a UTC day, `2026-11-17`. */
export interface Budget {
  spentOn(day: string): Promise<number>
  /** Resolves with the new sum. No addition is lost, also if others add at the same time. What was added too much is taken off again. */
  add(dollars: number, day: string): Promise<number>
}

const FILE = ".spent.json"
const DAYS_KEPT = 2

/** A budget in memory files. It keeps two days: work that began before midnight is settled after it. */
export function budgetIn(files: Pick<MemoryFiles, "read" | "install">): Budget {
  return {
    spentOn: async (day) => sumsIn((await files.read(FILE)) ?? "")[day] ?? 0,
    async add(dollars, day) {
      let sum = 0
      await changedText(files, FILE, (text) => {
        const sums = sumsIn(text ?? "")
        sum = (sums[day] ?? 0) + dollars
        return sumsText(newest({ ...sums, [day]: sum }))
      })
      return sum
    },
  }
}

const newest = (sums: DaySums): DaySums => Object.fromEntries(Object.entries(sums).sort().slice(-DAYS_KEPT))
