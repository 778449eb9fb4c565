import { findModel } from "@strata/core"
import { expect, test } from "vitest"
import { repeatedReads } from "../../../core/src/tokens/context-breakdown.ts"
import { SAVINGS, saving, summaryOf } from "../../test/ledger-figures.ts"
import { widthOf } from "../display/text.ts"
import { type CostPanelState, costLines as linesFor } from "./cost-panel.ts"

const COLUMNS = 76 // panel width in a window of 80 columns
const costLines = (shown: CostPanelState) => linesFor(shown, COLUMNS)

const counts = { input: 1_000, output: 500, cacheWrite5m: 4_000, cacheWrite1h: 0, cacheRead: 15_000 }
const summary = summaryOf({ requests: 3, counts, hitRatio: 0.75, dollars: 0.1234 })
const { facts } = findModel("claude-opus-4-6")
const picture = (more: Partial<CostPanelState> = {}): CostPanelState => ({
  summary,
  lines: [],
  lostCaches: [],
  repeated: repeatedReads({ duplicateReads: [] }, facts),
  ...more,
})

test("the ledger in a few lines", () => {
  expect(costLines(picture({ summary: { ...summary, unpriced: ["mystery-1"] } }))).toEqual([
    "$0.1234 for 3 requests",
    "input: 20.0K tokens, 75% of them read from cache; output: 500",
    "15.0K read from cache, 4.0K written to cache, 1.0K uncached",
    "The total leaves out mystery-1, because no price is known.",
  ])
})

test("TOK-7 where no price is known at all, the sum says so and not that it cost nothing", () => {
  const line = { model: "mystery-1", requests: 1, counts, dollars: undefined }
  const lines = [{ ...line, purpose: "main" } as const, { ...line, purpose: "notes" } as const]
  expect(costLines(picture({ lines, summary: { ...summary, dollars: 0, unpriced: ["mystery-1"] } }))[0]).toBe(
    "Unknown cost for 3 requests",
  )
})

const BUSY = picture({
  summary: { ...summary, savings: [...SAVINGS, saving("server", {})] },
  lines: [
    { model: "claude-opus-4-6", purpose: "main", requests: 2, counts, dollars: 0.1 },
    { model: "mystery-1", purpose: "notes", requests: 1, counts, dollars: undefined },
  ],
  agents: [
    {
      id: "a1",
      name: "finder",
      tokens: { input: 1_000, output: 500, cacheRead: 0, cacheWrite: 0 },
      requests: 2,
      dollars: 0.01,
      description: "Find where the names are read ".repeat(4),
    },
  ],
  lostCaches: [["five-minutes-over", { breaks: 1, rewrittenTokens: 20_000, dollars: 0.115, unpriced: 0 }]],
})

test.each([56, 76, 116, 156])("every line fits %i columns", (columns) => {
  for (const line of linesFor(BUSY, columns)) expect(widthOf(line), line).toBeLessThanOrEqual(columns)
})

test("in a narrow window the tables leave columns out, and cut no figure", () => {
  const text = linesFor(BUSY, 56).join("\n")
  expect(text).toMatch(/claude-opus-4-6 +conversation +20\.0K +500 +\$0\.1000$/m)
  expect(text).toMatch(/results offloaded +3 +1\.20M +\$0\.0000 +\$0\.6100$/m)
})

test("CACHE-5 by model and purpose, saved by each layer, lost caches, what was sent again", () => {
  const duplicateReads = [{ path: "a.ts", reads: 3, tokens: 9_000, wasted: 6_000 }]
  const lines = costLines(
    picture({
      summary: { ...summary, savings: SAVINGS },
      lines: [
        { model: "claude-opus-4-6", purpose: "main", requests: 2, counts, dollars: 0.1 },
        { model: "mystery-1", purpose: "notes", requests: 1, counts, dollars: undefined },
      ],
      lostCaches: [
        ["five-minutes-over", { breaks: 1, rewrittenTokens: 20_000, dollars: 0.115, unpriced: 0 }],
        ["compaction", { breaks: 2, rewrittenTokens: 40_000, dollars: 0, unpriced: 2 }],
      ],
      repeated: repeatedReads({ duplicateReads }, facts),
    }),
  )
  expect(`\n${lines.slice(3).join("\n")}\n`).toMatchInlineSnapshot(`
    "

    By model and purpose
      model            purpose       requests  input  cached  output     cost
      claude-opus-4-6  conversation         2  20.0K     75%     500  $0.1000
      mystery-1        notes                1  20.0K     75%     500  unknown

    Layers: $0.5365 saved, 1.26M tokens not sent
      layer              times  removed  not sent    worth     cost     saved
      results offloaded      3    45.0K     1.20M  $0.6100  $0.0000   $0.6100
      results cleared        2    30.0K     60.0K  $0.0300  $0.1035  -$0.0735
      results offloaded: Had it not acted, all would have been sent.
      results cleared: Had it not acted, all would have been sent. It has cost
      more than it saved so far. 1 decision without a size: not counted.

    Lost caches
      cache lost because                times  paid again     cost
      compacted                             2       40.0K  unknown
      expired: idle for over 5 minutes      1       20.0K  $0.1150

    Files read again
      1 file was read again: 6.0K tokens, about $0.0375. Each repeated read is
      counted as one cache write. The cache reads in every later request are not
      included.
    "
  `)
  for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(78)
})

test("TOK-7 a saving at an unknown price says so", () => {
  const savings = [saving("server", { unsent: 7_000, gained: undefined, paid: undefined, dollars: undefined })]
  const text = costLines(picture({ summary: { ...summary, savings } })).join("\n")
  expect(text).toContain("savings unknown (no price), 7.0K tokens not sent")
  expect(text).toMatch(/cleared by the server +1 +0 +7\.0K +unknown +unknown +unknown/)
})
