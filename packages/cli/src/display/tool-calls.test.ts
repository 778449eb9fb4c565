import type { ToolResult } from "@strata/core"
import { expect, test } from "vitest"
import { resultSummary } from "./tool-calls.ts"

const failing = (content: string): ToolResult => ({ type: "tool_result", tool_use_id: "c", content, is_error: true })

test("a refused call did not fail, whoever recorded it", () => {
  expect(resultSummary(failing("Not allowed: the rule forbids it\nTake another way."))).toEqual({
    state: "denied",
    text: "the rule forbids it",
  })
  for (const text of [
    "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    "Permission to use Bash with command ls has been denied.",
    "Permission for this tool use was denied. The tool use was rejected.",
  ])
    expect(resultSummary(failing(text)).state, text).toBe("denied")
})

test("a call that the person interrupted did not fail", () => {
  for (const text of ["Interrupted by the user before it finished.", "Interrupted before it finished.\nIt printed: 1"])
    expect(resultSummary(failing(text)).state, text).toBe("interrupted")
})

test("an error is a failure, and a result that only quotes a refusal is neither", () => {
  expect(resultSummary(failing("No such file")).state).toBe("failed")
  const { is_error: _, ...quoted } = failing("Not allowed: quoted from a log")
  expect(resultSummary(quoted)).toEqual({ state: "ok", text: "Not allowed: quoted from a log" })
})
