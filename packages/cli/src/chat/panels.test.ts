import type { Accounting, Thresholds } from "@strata/core"
import { expect, test } from "vitest"
import { bar, contextLines, costLines, todoLines } from "./panels.ts"

const ACCOUNTING: Accounting = {
  total: 60_000,
  human: 5_000,
  assistant: 15_000,
  thinking: 0,
  commandOutput: 0,
  toolRequests: { Read: 10_000 },
  toolResults: { Read: 30_000 },
  attachments: {},
  other: 0,
  duplicateReads: [{ path: "a.ts", reads: 3, tokens: 9_000, wasted: 6_000 }],
}
const THRESHOLDS: Thresholds = {
  window: 200_000,
  outputReserve: 20_000,
  effective: 180_000,
  autoCompact: 167_000,
  limit: 167_000,
  warning: 147_000,
  blocking: 177_000,
  notices: [],
}

test("the context as bars, the largest part first", () => {
  expect(contextLines({ accounting: ACCOUNTING, used: 80_000, percentLeft: 52, thresholds: THRESHOLDS })).toEqual([
    "██████████████░░░░░░░░░░░░░░░░ 80.0K of 167K tokens, 52% left",
    "The window holds 200K; 20.0K of it are kept free for the answer.",
    "",
    "Read results         ████████░░░░░░░░░░░░   30.0K   38%",
    "instructions, tools  █████░░░░░░░░░░░░░░░   20.0K   25%",
    "answers              ████░░░░░░░░░░░░░░░░   15.0K   19%",
    "Read calls           ███░░░░░░░░░░░░░░░░░   10.0K   13%",
    "your words           █░░░░░░░░░░░░░░░░░░░    5.0K    6%",
    "a.ts was read 3 times; 6.0K tokens of that are repeated.",
  ])
})

test("the ledger in a few lines", () => {
  const counts = { input: 1_000, output: 500, cacheWrite5m: 4_000, cacheWrite1h: 0, cacheRead: 15_000 }
  const lines = costLines({ requests: 3, counts, hitRatio: 0.75, dollars: 0.1234, unpriced: ["mystery-1"] }, [])
  expect(lines).toEqual([
    "$0.1234 for 3 requests",
    "input 20.0K tokens, 75% of them from the cache; output 500",
    "cache read 15.0K, written 4.0K, neither 1.0K",
    "The price of mystery-1 is not known and not in the sum.",
  ])
})

test("todos by their state", () => {
  expect(
    todoLines([
      { content: "Look", status: "completed" },
      { content: "Fix", status: "in_progress" },
      { content: "Test", status: "pending" },
    ]),
  ).toEqual(["[x] Look", "[>] Fix", "[ ] Test"])
  expect(todoLines([])).toEqual(["There are no todos."])
})

test("a bar shows what is there at all, and never more than everything", () => {
  expect([bar(0, 4), bar(0.001, 4), bar(0.5, 4), bar(2, 4)]).toEqual(["░░░░", "█░░░", "██░░", "████"])
})
