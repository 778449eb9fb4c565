/**
 * What memory work of a project may cost in a day, over all its processes. Work counts before it begins, with what it is expected to cost:
 * the limit holds also for many that begin at the same moment. A killed process leaves its share counted.
 */
import type { Budget } from "../journal/budget.ts"

export interface ShareOfDay {
  readonly state: "taken"
  /** Counts what the work did cost, also if that is nothing. If this fails, the expected sum stays. */
  readonly settle: (dollars: number) => Promise<void>
}

export interface ShareWanted {
  /** Dollars. */
  readonly limit: number
  readonly expected: number
  readonly day: string
}

export async function takeShare(
  daily: Budget,
  { limit, expected, day }: ShareWanted,
): Promise<ShareOfDay | { readonly state: "used-up"; readonly sentence: string }> {
  const add = (dollars: number) => daily.add(dollars, day)
  const before = (await add(expected)) - expected
  if (before < limit) return { state: "taken", settle: (dollars) => add(dollars - expected).then(noValue, noValue) }
  return { state: "used-up", sentence: usedUp(await add(-expected), limit) }
}

const noValue = () => undefined

/** Does work for which a share was taken. Work that fails has cost nothing. */
export async function settled<T>(
  share: ShareOfDay,
  { work, cost }: { readonly work: () => Promise<T>; readonly cost: (done: T) => number },
): Promise<T> {
  let dollars = 0
  try {
    const done = await work()
    dollars = cost(done)
    return done
  } finally {
    await share.settle(dollars)
  }
}

/** What is under way is part of the sum. */
export const usedUp = (spent: number, limit: number): string =>
  `memory work of this project has cost $${Math.max(0, spent).toFixed(2)} today, and the limit is $${limit} a day (memory-daily-limit).`
