import { expect, test } from "vitest"
import { factsTask } from "./facts.ts"
import type { TimelineEntry } from "./timeline.ts"

/** Largest number of call inputs that one step reads. */
function maxInOneStep(calls: number): number {
  let reads = 0
  const input = (at: number) =>
    new Proxy(
      { file_path: `/src/file-${at}.ts` },
      {
        get(target, key) {
          reads++
          return Reflect.get(target, key)
        },
      },
    )
  const moments = Array.from(
    { length: calls },
    (_, at): TimelineEntry => ({
      kind: "call",
      answers: at,
      call: { id: `c${at}`, name: "Read", input: input(at), result: { text: "x", failed: false } },
    }),
  )
  const steps = factsTask(moments)
  let max = 0
  for (let step = steps.next(); !step.done; step = steps.next()) {
    max = Math.max(max, reads)
    reads = 0
  }
  return Math.max(max, reads)
}

test("no step of reading a conversation offline grows with the conversation", () => {
  expect(maxInOneStep(500)).toBe(maxInOneStep(50))
})
