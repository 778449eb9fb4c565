/**
 * What memory work of a project has cost today. It is kept beside the memories, so all conversations and processes count together. A day is
 * a UTC day.
 */
import { dayOf } from "../base/clock.ts"
import { MemoryChangedError } from "../base/errors.ts"
import { weighCounts } from "../base/token-counts.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import type { Usage } from "../messages/messages.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { costOfUsage, tokenCounts } from "../tokens/price.ts"

const FILE = ".spent.json"
const MOST_ATTEMPTS = 50 // each failure means that another process succeeded
/** Dollars per million tokens of a usual model, for models without a known price. */
const USUAL = { input: 3, output: 15, cacheWrite5m: 3.75, cacheWrite1h: 6, cacheRead: 0.3 }

export interface DailySpend {
  /** Dollars spent on the day of `now`. */
  today(now: Date): Promise<number>
  add(dollars: number, now: Date): Promise<void>
}

export function dailySpend(files: Pick<MemoryFiles, "read" | "install">): DailySpend {
  const read = async (day: string) => {
    const text = await files.read(FILE)
    return { text, dollars: spentOn(day, text) }
  }
  return {
    today: async (now) => (await read(dayOf(now))).dollars,
    async add(dollars, now) {
      const day = dayOf(now)
      for (let attempt = 1; ; attempt++) {
        const before = await read(day)
        const text = `${JSON.stringify({ day, dollars: before.dollars + dollars })}\n`
        try {
          await files.install([{ path: FILE, text, expected: before.text ?? null }])
          return
        } catch (error) {
          if (!(error instanceof MemoryChangedError) || attempt >= MOST_ATTEMPTS) throw error
        }
      }
    },
  }
}

/** What responses cost. A model without a known price counts like a usual one, so that the limit holds there too. */
export function dollarsFor(responses: readonly { readonly usage?: Usage }[], facts: ModelFacts): number {
  return responses.reduce((sum, { usage }) => {
    if (!usage) return sum
    const cost = costOfUsage(facts, usage)
    return sum + (cost.known ? cost.dollars : weighCounts(tokenCounts(usage), USUAL) / 1_000_000)
  }, 0)
}

/** A file that cannot be read counts as nothing spent. It is replaced by the next sum. */
function spentOn(day: string, text: string | undefined): number {
  try {
    const kept = JSON.parse(text ?? "{}") as { readonly day?: unknown; readonly dollars?: unknown }
    return kept.day === day && typeof kept.dollars === "number" && kept.dollars >= 0 ? kept.dollars : 0
  } catch {
    return 0
  }
}
