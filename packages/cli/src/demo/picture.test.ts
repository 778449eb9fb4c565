import { findModel, type QueryEvent } from "@strata/core"
import { describe, expect, it } from "vitest"
import { NO_TOKENS } from "../../../core/src/base/text.ts"
import { resolveThresholds } from "../../../core/src/tokens/window.ts"
import { SAVINGS } from "../../test/ledger-figures.ts"
import { plainStyle as style } from "../display/terminal.ts"
import { widthOf } from "../display/text.ts"
import { type PictureOptions, picture } from "./picture.ts"
import { after, type ConversationMetrics, type DemoState, initialState } from "./state.ts"
import { summary } from "./summary.ts"

const { facts } = findModel("claude-opus-5-5")
const thresholds = resolveThresholds({ window: 100_000, facts, maxOutput: 32_000, autoCompact: true })
const first = initialState({ model: "claude-opus-5-5", thresholds, planned: 25 })

/** Metrics of a conversation with a number of tokens. */
const reading = (tokens: number): ConversationMetrics => ({
  accounting: {
    total: 40_000,
    human: 200,
    assistant: 1_800,
    thinking: 1_000,
    commandOutput: 0,
    toolRequests: { Read: 2_000, Bash: 1_000 },
    toolResults: { Read: 20_000, Bash: 9_000, Grep: 4_000, Edit: 1_000 },
    attachments: {},
    other: 0,
    duplicateReads: [],
  },
  size: { tokens, counted: tokens, estimated: 0 },
  fill: { used: tokens, percentLeft: 30, state: tokens > thresholds.warning ? "warning" : "fine" },
  spent: {
    requests: 12,
    counts: { input: 0, output: 4_000, cacheWrite5m: 50_000, cacheWrite1h: 0, cacheRead: 400_000 },
    hitRatio: 0.89,
    dollars: 0.4567,
    unpriced: [],
    byPurpose: [
      { purpose: "main", requests: 12, counts: NO_TOKENS, dollars: 0.4 },
      { purpose: "notes", requests: 4, counts: NO_TOKENS, dollars: 0.0567 },
    ],
    savings: SAVINGS,
  },
  notesTokens: 2_400,
  promptEstimate: 9_000,
  boundary: { summarised: 38, kept: 5 },
})

const call = (id: string, name: string, summary: string): QueryEvent => ({
  type: "tool-start",
  id,
  name,
  input: {},
  summary,
})
const result = (id: string, content: string, is_error = false): QueryEvent => ({
  type: "tool-result",
  id,
  name: "Tool",
  ms: 12,
  result: { type: "tool_result", tool_use_id: id, content, is_error },
})
const response: QueryEvent = {
  type: "response",
  uuid: "1",
  cost: { known: true, dollars: 0.01 },
  response: {
    id: "r",
    model: "claude-opus-5-5",
    content: [{ type: "text", text: "I will look\nat it." }],
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}

function stateAfter(events: readonly QueryEvent[], tokens = 50_000): DemoState {
  return events.reduce((state, event) => after(state, { event, measure: () => reading(tokens) }), first)
}

const atWork: readonly QueryEvent[] = [
  { type: "user", uuid: "0", text: "Tidy up.", queued: false },
  {
    type: "request",
    turn: 1,
    size: { tokens: 0, counted: 0, estimated: 0 },
    fill: { used: 0, percentLeft: 100, state: "fine" },
  },
  { type: "retry", attempt: 1, delayMs: 600, reason: "overloaded (529)" },
  response,
  call("a", "Read", "read src/main.ts"),
  call("b", "Bash", "npm test"),
  result("a", "const answer = 42"),
  result("b", "\u001b[31mtwo tests failed\u001b[39m", true),
  { type: "attached", kind: "nested_memory", about: "src/AGENTS.md" },
  call("c", "Grep", 'search "answer" in .'),
]

const compaction: readonly QueryEvent[] = [
  { type: "compaction", progress: { phase: "preparing" } },
  { type: "compaction", progress: { phase: "summarising", route: "shared", characters: 1_200 } },
  { type: "boundary", uuid: "b", trigger: "auto", tokensBefore: 67_400 },
  { type: "attached", kind: "carried_facts", about: "" },
  { type: "attached", kind: "file", about: "a.ts" },
  { type: "attached", kind: "file", about: "b.ts" },
  { type: "compacted", tokensBefore: 67_400, tokensAfter: 18_900, route: "shared" },
]

/** The picture as text. */
const shown = (
  state: DemoState,
  { columns = 80, rows = 24, elapsedMs = 0, hasColours = false }: Partial<PictureOptions> = {},
) => picture(state, { columns, rows, elapsedMs, hasColours }).map((line) => line.map(({ text }) => text).join(""))

describe("a compaction in the picture", () => {
  const lines = (count: number) => shown(stateAfter([...atWork, ...compaction.slice(0, count)]), { rows: 30 })

  it("L4-14 says what it does right now", () => {
    expect(lines(2)).toContainEqual("compacting… writing a summary, 1,200 characters")
  })

  it("says what the last one kept, and marks its place", () => {
    const last = lines(compaction.length)
    expect(last).toContainEqual("last compaction: 67.4K to 18.9K, 38 messages summarised, 5 kept")
    expect(last.at(last.findIndex((line) => line.startsWith("growth ")) + 1)).toBe("       ▲")
    expect(lines(0).length).toBe(last.length)
  })
})

describe("the live picture", () => {
  it("shows the window and what fills it", () => {
    const lines = shown(stateAfter(atWork), { elapsedMs: 7_400 })
    expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
      "
      Window 50.0K of 100K: past warning, compacts in 17.0K        work: 1.3 windows
      SSSSSSSSATCCRRRRRRRRRRRRRRRRBBBBBBBGGGO·······································
                                          w              c       b
                                   w warning 47.0K  c compaction 67.0K  b full 77.0K
      R files read 20.0K 40%  S system prompt and tools 10.0K 20%
      B command output 9.0K 18%  G search results 4.0K 8%  C tool calls 3.0K 6%  …
      450K in, 89% from cache · 4.0K out · $0.4567 · 12 requests
      saved: 1.26M tokens not sent · 45.0K offloaded, 12.0K cleared · notes 2.4K
      no compaction yet; the first one comes at 67.0K
      growth ▆

      strata demo · turn 1 of about 25 · 0:07 · claude-opus-5-5, simulated
      "
    `)
  })

  it("is readable before anything has happened", () => {
    const lines = shown(first)
    expect(lines.join("\n")).toContain("0 of 100K: fine, compacts in 67.0K")
  })

  it.each([
    [78, 12],
    [80, 24],
    [200, 60],
  ])("fits %i columns and %i rows", (columns, rows) => {
    for (const hasColours of [false, true]) {
      const lines = shown(stateAfter(atWork), { columns, rows, hasColours })
      expect(lines.length).toBeLessThan(rows)
      for (const line of lines) expect(widthOf(line), line).toBeLessThan(columns)
    }
  })

  it("shows the parts as letters without colours, and as blocks with them", () => {
    const bars = [false, true].map((hasColours) => shown(stateAfter(atWork), { hasColours })[1]!)
    expect(bars[0]).toMatch(/^S+AT?/)
    expect(bars[1]).toMatch(/^█+·+$/)
    expect(widthOf(bars[1]!)).toBe(widthOf(bars[0]!))
  })

  it("keeps as many lines while there is room, so that nothing jumps", () => {
    const heights = [0, 3, 6, 9].map((count) => shown(stateAfter(atWork.slice(0, count))).length)
    expect(new Set(heights).size).toBe(1)
  })

  it("shows parts that add up to what the API counted", () => {
    const { parts, size } = stateAfter(atWork)
    expect(parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBeCloseTo(size, -1)
    expect(parts[0]).toEqual({ kind: "prompt", tokens: 10_000 })
  })
})

it("ends with a table, what to try next, and the comparison", () => {
  const artifacts = {
    files: new Map([
      ["a.ts", { reads: 2, changes: 1, created: false, deleted: false, last: "1" }],
      ["b.ts", { reads: 0, changes: 0, created: true, deleted: false, last: "1" }],
    ]),
    commands: new Map([["npm test", { failed: true, exitCode: 1, isTest: true, last: "1" }]]),
  }
  const nextDay = {
    kept: ["Never delete a file.", "Always write findings to docs/FINDINGS.md, because the team reads them there."],
    used: [{ text: '"Never delete a file."', source: "you said it", age: "yesterday" }],
    written: ["docs/FINDINGS.md"],
    spent: { ...reading(0).spent, requests: 5, dollars: 0.1 },
  }
  const lines = summary(
    {
      ...{ state: stateAfter([...atWork, ...compaction]), elapsedMs: 20_000, artifacts, nextDay, strata: "strata" },
      ...{ facts: [], hasKey: false },
    },
    { style, columns: 80 },
  )
  expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
    "
    What happened
      turns      1 in 0:20, for 1 task
      work       125K tokens, 1.3 windows of 100,000; 50,000 are in the window now
      compacted  1 time; requests waited for 1 summary
                 turn 1: 67.4K to 18.9K, 38 messages summarised, 5 kept; then
                   added: facts from the journal, 2 files
      input      400K read from cache, 50.0K written to cache, 0 uncached
      cache      89% of the input was read from it
      output     4,000 tokens
      cost       $0.5567 at the prices of the real claude-opus-5-5
                 conversation: 12 requests, $0.4000
                 notes: 4 requests, $0.0567 (they cost the same in a large window)
                 second conversation: 5 requests, $0.1000
      layers     results offloaded: 3 times, 45.0K tokens removed
                 results cleared: 2 times, 30.0K tokens removed
      memories   2 kept by the first conversation
                 - "Never delete a file."
                 - "Always write findings to docs/FINDINGS.md, because the team
                   reads them there."
                 1 used by the second; it wrote docs/FINDINGS.md
                 - "Never delete a file." (you said it, yesterday)
      files      1 read, 2 changed
      commands   1 run, 1 failed
      journal    removed with the scratch copy (--keep keeps both)

    The same work, with and without Strata
                       with Strata  without
      tokens sent             450K    75.0K
      cost                 $0.4567  $0.3750
      largest request            1    75.0K
      windows of 100K            1      0.8
      turns that fit         all 1    all 1

      This run was short enough to fit the window without Strata too. Strata cost
      22% more than resending everything in an endless window.
      Without: each request carries all that this run sent or removed, at the same
      prices, with a perfect cache. A full window drops its oldest messages.
      With: the ledger of the first conversation. Recall finds what is out of view.

    What to try next
      strata usage                 what your own agents cost
      strata chat                  with a real model; needs a key
      strata demo --window 200000  the same in a larger window
    "
  `)
})
