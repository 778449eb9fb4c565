import type { Thresholds } from "@strata/core"
import type { ContextBreakdown } from "@strata/core/tokens"
import { assert, dictionary, integer, property, record, stringMatching } from "fast-check"
import { expect, test } from "vitest"
import { SAVINGS } from "../../test/ledger-figures.ts"
import { widthOf } from "../display/text.ts"
import { type ContextPanelState, contextLines } from "./context-panel.ts"

const COLUMNS = 76 // panel width in a window of 80 columns

const ACCOUNTING: ContextBreakdown = {
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
  countsOutput: false,
  outputReserve: 20_000,
  maxOutput: 32_000,
  effective: 180_000,
  autoCompact: 167_000,
  limit: 167_000,
  warning: 147_000,
  blocking: 177_000,
  notices: [],
}
const COMPACTIONS = { count: 0, failures: 0, maxFailures: 3, at: 167_000, mayByHand: true }
const picture = (more: Partial<ContextPanelState> = {}): ContextPanelState => ({
  accounting: ACCOUNTING,
  promptTokens: 20_000,
  used: 80_000,
  percentLeft: 52,
  thresholds: THRESHOLDS,
  savings: [],
  compactions: COMPACTIONS,
  planner: {
    ...{ mode: "off", cache: { state: "cold" }, keepsWarm: true },
    pause: { lifetime: "1h", pings: 0, minutes: 5 },
  },
  notes: { kind: "none", first: 10_000 },
  ...more,
})

test("WIN-9 a learned limit, and how to forget it", () => {
  const thresholds = { ...THRESHOLDS, window: 40_000, believed: 200_000 }
  expect(contextLines(picture({ thresholds }), COLUMNS).join(" ")).toContain(
    "The window holds 40.0K tokens. The server refused more, although 200K were expected. strata config --forget-limits forgets this limit. 20.0K are reserved for the answer",
  )
})

test("TOK-8 the context as bars, the largest part first, and what all tools take together", () => {
  expect(contextLines(picture(), COLUMNS)).toEqual([
    "██████████████░░░░░░░░░░░░░░░░ 80.0K of 167K usable tokens, 52% left",
    "The window holds 200K tokens. 20.0K are reserved for the answer, and",
    "compaction starts 13.0K earlier, so 167K are usable.",
    "Next threshold in 67.0K tokens: warning at 147K, compaction at 167K, full at",
    "177K.",
    "Tool calls and results are 67% of the messages. 10% repeats earlier reads.",
    "Strata compacts automatically at 167K tokens.",
    "The planner is off.",
    "There are no notes yet. Strata starts taking them at 10.0K tokens.",
    "",
    "Read results             ████████░░░░░░░░░░░░    30,000   38%",
    "system prompt and tools  █████░░░░░░░░░░░░░░░    20,000   25%",
    "the model's text         ████░░░░░░░░░░░░░░░░    15,000   19%",
    "Read calls               ███░░░░░░░░░░░░░░░░░    10,000   12%",
    "your messages            █░░░░░░░░░░░░░░░░░░░     5,000    6%",
    "all                                              80,000  100%",
    "a.ts was read 3 times. 6.0K tokens of that repeat earlier reads.",
  ])
})

test("the parts are scaled to what the API counted", () => {
  const lines = contextLines(picture({ used: 40_000 }), COLUMNS)
  expect(lines.find((line) => line.startsWith("Read results"))).toMatch(/15,000 +38%$/)
  expect(lines.find((line) => line.startsWith("system prompt"))).toMatch(/10,000 +25%$/)
})

const NOTHING = { tokens: 0, percent: 0 }

test("TOK-8 the rows add up to the total, and the percentages to 100", () => {
  const tokens = integer({ min: 0, max: 400_000 })
  const byName = dictionary(stringMatching(/^[a-z]{1,8}$/), tokens, { maxKeys: 40 })
  const context = record({
    ...{ human: tokens, assistant: tokens, thinking: tokens, commandOutput: tokens, other: tokens },
    ...{ toolRequests: byName, toolResults: byName },
    attachments: byName.map((all) =>
      Object.fromEntries(Object.entries(all).map(([kind, count]) => [kind, { count: 1, tokens: count }])),
    ),
  })
  assert(
    property(context, integer({ min: 1, max: 2_000_000 }), (parts, used) => {
      const accounting: ContextBreakdown = { ...parts, total: sumOf(parts), duplicateReads: [] }
      const lines = contextLines(picture({ accounting, used }), COLUMNS)
      const rows = lines.flatMap((line) => {
        const [, count, isLess, percent] = / ([\d,]+) +(<?)(\d+)%$/.exec(line) ?? []
        return count ? [{ tokens: Number(count.replaceAll(",", "")), percent: isLess ? 0 : Number(percent) }] : []
      })
      const all = rows.pop()
      expect(all ?? NOTHING).toEqual(rows.length === 0 ? NOTHING : { tokens: used, percent: 100 })
      expect(rows.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(all?.tokens ?? 0)
      expect(rows.reduce((sum, { percent }) => sum + percent, 0)).toBe(all?.percent ?? 0)
    }),
  )
})

function sumOf({ attachments, ...parts }: Omit<ContextBreakdown, "total" | "duplicateReads">): number {
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const { human, assistant, thinking, commandOutput, other, toolRequests, toolResults } = parts
  const byName = [...Object.values(toolRequests), ...Object.values(toolResults)]
  return sum([
    human,
    assistant,
    thinking,
    commandOutput,
    other,
    ...byName,
    ...Object.values(attachments).map(({ tokens }) => tokens),
  ])
}

test("attachments of other programs and results of your commands are named", () => {
  const attachments = { foreign: { count: 2, tokens: 9_000 }, command_output: { count: 1, tokens: 4_000 } }
  const accounting = { ...ACCOUNTING, total: 78_000, commandOutput: 3_000, other: 2_000, attachments }
  const rows = contextLines(picture({ accounting, used: 98_000 }), COLUMNS).join("\n")
  expect(rows).toMatch(/^attachments of another program .* 9,000/m)
  expect(rows).toMatch(/^output of your commands .* 7,000/m)
  expect(rows).toMatch(/^summaries, program text .* 2,000/m)
})

const aboutOf = (more: Partial<ContextPanelState>) => {
  const lines = contextLines(picture(more), COLUMNS)
  return lines.slice(2, lines.indexOf("")).join(" ")
}

test("WIN-4 only thresholds that are still ahead; without automatic compaction it has no threshold", () => {
  expect(aboutOf({ used: 150_000 })).toContain("Next threshold in 17.0K tokens: compaction at 167K, full at 177K.")
  expect(aboutOf({ used: 150_000, thresholds: { ...THRESHOLDS, limit: 180_000 } })).toContain(
    "Next threshold in 27.0K tokens: full at 177K.",
  )
  expect(aboutOf({ used: 178_000 })).toContain("Nothing more is sent until you use /compact or /clear")
})

test("what the layers keep out", () => {
  expect(aboutOf({ savings: SAVINGS })).toContain(
    "Kept out of the window: 45.0K offloaded, 12.0K cleared. /cost shows what that saves.",
  )
})

test.each([40, 56, 76, 116, 156])("every line fits %i columns, also with long names in other scripts", (columns) => {
  const duplicateReads = [{ path: "文档/需求说明/最终版本.md", reads: 12, tokens: 9_000, wasted: 6_000 }]
  const toolResults = { mcp__github__create_pull_request_review_with_comments: 30_000 }
  const accounting = { ...ACCOUNTING, duplicateReads, toolResults }
  for (const line of contextLines(picture({ savings: SAVINGS, accounting }), columns))
    expect(widthOf(line), line).toBeLessThanOrEqual(columns)
})

test("a wider window has longer bars", () => {
  const bars = [56, 76, 116].map((columns) =>
    contextLines(picture(), columns).flatMap((line) => /[█░]+/.exec(line)?.[0].length ?? []),
  )
  expect(bars.map(([first, second]) => [first, second])).toEqual([
    [18, 15],
    [30, 20],
    [46, 31],
  ])
})

test("500 tools and 500 repeated reads do not flood the panel, and its parts still make the whole", () => {
  const toolResults = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`tool_${i}`, 10 + i]))
  const duplicateReads = Array.from({ length: 500 }, (_, i) => ({ path: `${i}.ts`, reads: 2, tokens: 9, wasted: 3 }))
  const lines = contextLines(picture({ accounting: { ...ACCOUNTING, toolResults, duplicateReads } }), COLUMNS)
  expect(lines.length).toBeLessThan(60)
  expect(lines).toContainEqual(expect.stringMatching(/^\d+ smaller parts +[█░]+ +[\d,]+ +\d+%$/))
  expect(lines.at(-1)).toBe("… and 492 more. To see all: strata inspect --json")
})
