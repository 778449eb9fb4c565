import { expect, test } from "vitest"
import { repeatedReads } from "./context-breakdown.ts"
import { findModel } from "./models.ts"

const duplicateReads = [
  { path: "a.ts", reads: 3, tokens: 900_000, wasted: 600_000 },
  { path: "b.ts", reads: 2, tokens: 800_000, wasted: 400_000 },
]

test("CACHE-5 files that were read again cost what writing them once more does", () => {
  const { facts } = findModel("claude-opus-4-6")
  expect(repeatedReads({ duplicateReads }, facts)).toMatchObject({ files: 2, tokens: 1_000_000, dollars: 6.25 })
  expect(repeatedReads({ duplicateReads: [] }, facts)).toMatchObject({ files: 0, tokens: 0, dollars: 0 })
})

test("TOK-7 without a known price the money is unknown", () => {
  const { facts } = findModel("someone-else")
  expect(repeatedReads({ duplicateReads }, facts)).toMatchObject({ tokens: 1_000_000, dollars: undefined })
})
