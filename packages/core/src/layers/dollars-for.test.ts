import { expect, test } from "vitest"
import { findModel } from "../tokens/models.ts"
import { dollarsFor } from "./budget.ts"

test("L5-9 a model without a price counts like a usual one", () => {
  const usage = { input_tokens: 1_000_000, output_tokens: 0 }
  const { price: _, longPrompt: __, ...facts } = findModel("claude-opus-4-6").facts
  expect(dollarsFor([{ usage }], facts as never)).toBe(3)
  expect(dollarsFor([{ usage }], findModel("claude-opus-4-6").facts)).toBeGreaterThan(3)
})
