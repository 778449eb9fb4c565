import { expect, test } from "vitest"
import { textReport } from "./text-report.ts"

const retry = { type: "retry", attempt: 1, delayMs: 500, reason: "overloaded (529)" } as const

test("LOOP-5: what was printed is called void where something was printed, and only there", () => {
  const notes: string[] = []
  const report = textReport({ print: () => {}, complain: (text) => notes.push(text) })
  report.event(retry)
  report.event({ type: "text", text: "Half an ans" })
  report.event(retry)
  report.event(retry)
  expect(notes).toEqual([
    "- retrying in 500 ms: overloaded (529).\n",
    "- retrying in 500 ms: overloaded (529). Ignore the partial answer above.\n",
    "- retrying in 500 ms: overloaded (529).\n",
  ])
})
