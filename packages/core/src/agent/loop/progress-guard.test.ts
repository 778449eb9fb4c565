import { expect, test } from "vitest"
import { ProgressGuard } from "./progress-guard.ts"

const message = (text: string) => ({ content: [{ type: "text", text }] })
const fail = (nth: number) =>
  [
    [{ type: "tool_use", id: `toolu_${nth}`, name: "Fail", input: { nth } }],
    [{ type: "tool_result", tool_use_id: `toolu_${nth}`, content: `no ${nth}`, is_error: true }],
  ] as const

test("LOOP-6 a query continues twenty pauses of the server in a row, and work in between counts them again", () => {
  const progress = new ProgressGuard()
  for (let nth = 1; nth <= 20; nth++) expect(progress.paused(message(`Searching ${nth}.`))).toBeUndefined()
  expect(progress.paused(message("Searching on."))).toBe(
    "The model paused more than 20 times in a row without an answer.",
  )
  const [calls] = fail(0)
  progress.worked(calls, [{ type: "tool_result", tool_use_id: "toolu_0", content: "done" }])
  expect(progress.paused(message("Searching again."))).toBeUndefined()
})

test("LOOP-6 a query ends after thirty rounds in a row in which every tool call failed", () => {
  const progress = new ProgressGuard()
  for (let nth = 1; nth < 30; nth++) expect(progress.worked(...fail(nth))).toBeUndefined()
  expect(progress.worked(...fail(30))).toBe("Every tool call of the last 30 rounds failed.")
})
