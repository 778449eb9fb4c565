import { expect, test } from "vitest"
import { boundResult } from "./result.ts"

test("L7-4 a long report arrives cut where it cannot be saved, and says where all of it is", async () => {
  const bounded = await boundResult({
    text: `The answer is 42. ${"x".repeat(10_000)}`,
    limit: 100,
    estimate: (text) => text.length / 4,
    keep: () => Promise.reject(Object.assign(new Error("no space left"), { code: "ENOSPC" })),
    fallbackHint: "",
  })
  expect(bounded.content).toContain("The answer is 42.")
  expect(bounded.content).toContain("could not be saved (ENOSPC). The agent's journal has it.")
  expect(bounded.handle).toBeUndefined()
})

test("BEY-12 where nothing keeps files, a long report names no path and says where all of it is", async () => {
  const bounded = await boundResult({
    text: `The answer is 42. ${"x".repeat(10_000)}`,
    limit: 100,
    estimate: (text) => text.length / 4,
    keep: async () => undefined,
    fallbackHint: "The agent's journal has all of it.",
  })
  expect(bounded.content).toMatch(/^The answer is 42[\s\S]*\n\[The agent's journal has all of it\.\]$/)
  expect(bounded.handle).toBeUndefined()
})
