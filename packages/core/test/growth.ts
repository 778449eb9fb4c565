/** How the work of a function grows with its input: the same on a fast and on a busy machine. */
import { expect } from "vitest"

const TIMES_LONGER = 4
const MOST_GROWTH = 10 // linear work grows 4 times, quadratic work 16 times
const TRIES = 2 // the least of them: others may have had the processor's caches
const TOO_SHORT_MICROSECONDS = 5_000 // too little to compare

/** Fails if a text takes far more than four times the work of a quarter of it. */
export function expectLinearWork(piece: string, { length, work }: { length: number; work(text: string): void }): void {
  const leastWork = (count: number) => {
    const text = piece.repeat(count)
    const tries = Array.from({ length: TRIES }, () => {
      const start = process.cpuUsage()
      work(text)
      return process.cpuUsage(start).user
    })
    return Math.min(...tries)
  }
  const count = Math.ceil(length / piece.length)
  const short = Math.max(leastWork(Math.ceil(count / TIMES_LONGER)), TOO_SHORT_MICROSECONDS / TIMES_LONGER)
  expect(leastWork(count) / short, `growth of the work for ${JSON.stringify(piece)}`).toBeLessThan(MOST_GROWTH)
}
