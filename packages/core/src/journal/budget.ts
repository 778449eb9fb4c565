/** The part of the `Store` port that adds up what the processes of a project spend. */
import { changedText } from "./changed-text.ts"
import type { MemoryFiles } from "./memory-files.ts"

/** Dollars by day. A day is a UTC day, `2026-11-17`. */
export interface Budget {
  spentOn(day: string): Promise<number>
  /** Resolves with the new sum. No addition is lost, also if others add at the same time. */
  add(dollars: number, day: string): Promise<number>
}

const FILE = ".spent.json"

/** A budget in memory files. It keeps one day: the last that something was spent on. */
export function budgetIn(files: Pick<MemoryFiles, "read" | "install">): Budget {
  return {
    spentOn: async (day) => dollarsOn(day, await files.read(FILE)),
    async add(dollars, day) {
      let sum = 0
      await changedText(files, FILE, (text) => {
        sum = dollarsOn(day, text) + dollars
        return `${JSON.stringify({ day, dollars: sum })}\n`
      })
      return sum
    },
  }
}

/** A file that cannot be read counts as nothing spent. It is replaced by the next sum. */
function dollarsOn(day: string, text: string | undefined): number {
  try {
    const kept = JSON.parse(text ?? "{}") as { readonly day?: unknown; readonly dollars?: unknown }
    return kept.day === day && typeof kept.dollars === "number" && kept.dollars >= 0 ? kept.dollars : 0
  } catch {
    return 0
  }
}
