import { expect, test } from "vitest"
import { Refusals } from "./refusals.ts"

test("PERM-6 after three refusals in a row the model is asked to take another way, until a call is allowed", () => {
  const refusals = new Refusals()
  expect(refusals.refused("Bash", "plan mode is on")).toBeUndefined()
  expect(refusals.refused("Bash", "plan mode is on")).toBeUndefined()
  expect(refusals.refused("Edit", "the user said no")).toContain("refusal 3 in a row")
  refusals.allowed()
  expect(refusals.refused("Bash", "plan mode is on")).toBeUndefined()
  expect(refusals.counts()).toEqual([
    { tool: "Bash", why: "plan mode is on", count: 3 },
    { tool: "Edit", why: "the user said no", count: 1 },
  ])
})
