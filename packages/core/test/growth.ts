/** Measures how the work of a function grows with its input, independently of the machine's speed and load. */
import { expect } from "vitest"

const TIMES_LONGER = 32
const MAX_GROWTH = 200 // linear work grows 32 times, quadratic work 1,024 times
const TRIES = 3 // the minimum counts: a garbage collection affects one of them, not all
const TOO_SHORT_MICROSECONDS = 1_000 // too short to compare

/** Fails if a text takes far more than 32 times the work of a 32nd of it. */
export function expectLinearWork(piece: string, { length, work }: { length: number; work(text: string): void }): void {
  const minWork = (count: number) => {
    const text = piece.repeat(count)
    const tries = Array.from({ length: TRIES }, () => {
      const start = process.threadCpuUsage()
      work(text)
      return process.threadCpuUsage(start).user
    })
    return Math.min(...tries)
  }
  const count = Math.ceil(length / piece.length)
  const short = Math.max(minWork(Math.ceil(count / TIMES_LONGER)), TOO_SHORT_MICROSECONDS)
  expect(minWork(count) / short, `growth of the work for ${JSON.stringify(piece)}`).toBeLessThan(MAX_GROWTH)
}
