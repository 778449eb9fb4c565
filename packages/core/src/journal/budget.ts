/** What the processes of a project spend, added up in a small text that they share. */
import { changedText } from "./changed-text.ts"
import type { MemoryFiles } from "./memory-files.ts"
import { type DaySums, SPENT, sumsIn, sumsText } from "./sums-content.ts"

/** Dollars by day. A day is a UTC day, `2026-11-17`. */
export interface Budget {
  spentOn(day: string): Promise<number>
  /** Resolves with the new sum. No addition is lost, also if others add at the same time. What was added too much is taken off again. */
  add(dollars: number, day: string): Promise<number>
}

const DAYS_KEPT = 2

/** A budget in the memory files of a project. It keeps two days: work that began before midnight is settled after it. */
export function budgetIn(files: Pick<MemoryFiles, "read" | "install">): Budget {
  return {
    spentOn: async (day) => sumsIn((await files.read(SPENT)) ?? "")[day] ?? 0,
    async add(dollars, day) {
      let sum = 0
      await changedText(files, SPENT, (text) => {
        const sums = sumsIn(text ?? "")
        sum = (sums[day] ?? 0) + dollars
        return sumsText(newest({ ...sums, [day]: sum }))
      })
      return sum
    },
  }
}

const newest = (sums: DaySums): DaySums => Object.fromEntries(Object.entries(sums).sort().slice(-DAYS_KEPT))
