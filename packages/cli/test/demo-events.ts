/** A short run of the demo as events, and the conversation's metrics during it. */
import { findModel, type QueryEvent } from "@strata/core"
import { NO_TOKENS } from "../../core/src/base/text.ts"
import { resolveThresholds } from "../../core/src/tokens/window.ts"
import { after, type ConversationMetrics, type DemoState, initialState } from "../src/demo/state.ts"
import { summary } from "../src/demo/summary.ts"
import { plainStyle as style } from "../src/display/terminal.ts"
import { SAVINGS } from "./ledger-figures.ts"

const { facts } = findModel("claude-opus-5-5")
const thresholds = resolveThresholds({ window: 60_000, facts, maxOutput: 32_000, autoCompact: true })

const call = (id: string, name: string, summary: string): QueryEvent => ({
  ...{ type: "tool-start", id, name, input: {}, summary },
})
const result = (id: string, content: string, is_error = false): QueryEvent => ({
  ...{ type: "tool-result", id, name: "Tool", ms: 12 },
  result: { type: "tool_result", tool_use_id: id, content, is_error },
})
const response = (text: string): QueryEvent => ({
  ...{ type: "response", uuid: "1", cost: { known: true, dollars: 0.01 } },
  response: {
    ...{ id: "r", model: "claude-opus-5-5", content: [{ type: "text", text }], stop_reason: "tool_use" },
    usage: { input_tokens: 9_000, output_tokens: 300 },
  },
})
const text = (text: string): QueryEvent => ({ type: "text", text })
const request = (turn: number): QueryEvent => ({
  ...{ type: "request", turn, size: { tokens: 0, counted: 0, estimated: 0 } },
  fill: { used: 0, percentLeft: 100, state: "fine" },
})

export const eventsOfDemo: readonly QueryEvent[] = [
  { type: "user", uuid: "0", text: "Get to know this repository, then tidy up one small thing in it.", queued: false },
  request(1),
  { type: "retry", attempt: 1, delayMs: 600, reason: "overloaded (529)" },
  text("I will look around first, at the longest files and at what their tests say about them, one by one."),
  response("I will look around first, at the longest files and at what their tests say about them, one by one."),
  call("a", "Read", "read packages/core/src/layers/4-compaction/audit/token-index.ts"),
  call("b", "Bash", "find . -type f -not -path '*/.git/*' -not -path '*/node_modules/*' | head -n 600"),
  call("c", "Grep", 'search "answer" in .'),
  result("c", "src/a.ts:1"),
  result("a", "const answer = 42"),
  { type: "attached", kind: "nested_memory", about: "src/AGENTS.md" },
  result("b", "find: permission denied", true),
  { type: "notice", message: "A large tool result was put aside: 8,988 tokens saved." },
  request(2),
  text("Now the small thing."),
  response("Now the small thing."),
  { type: "compaction", progress: { phase: "summarising", route: "shared", characters: 1_200 } },
  { type: "boundary", uuid: "b", trigger: "auto", tokensBefore: 26_900 },
  { type: "attached", kind: "carried_facts", about: "" },
  { type: "attached", kind: "file", about: "a.ts" },
  { type: "compacted", tokensBefore: 26_900, tokensAfter: 9_300, route: "shared" },
  request(3),
  call("d", "Edit", "edit /tmp/strata-demo-1/nightly-builds/src/a.ts"),
  result("d", "changed"),
  text("Done."),
  response("Done."),
]

/** Metrics of the conversation after a number of events. */
function reading(count: number): ConversationMetrics {
  const isPrepared = count > 1
  const isAnswered = count > 4
  const tokens = !isPrepared ? 30 : !isAnswered ? 4_800 : count < 14 ? 14_000 : count < 21 ? 26_900 : 9_300
  const results = isAnswered ? { Read: 6_000, Bash: 3_000, Grep: 900, Edit: 200 } : {}
  return {
    accounting: {
      ...{ human: 30, assistant: isAnswered ? 400 : 0, thinking: 0, commandOutput: 0, other: 0 },
      toolRequests: isAnswered ? { Read: 500, Bash: 300 } : {},
      toolResults: results,
      ...{ attachments: {}, duplicateReads: [] },
      total: isAnswered ? 11_330 : 30,
    },
    size: isAnswered ? { tokens, counted: tokens, estimated: 0 } : { tokens, counted: 0, estimated: tokens },
    fill: { used: tokens, percentLeft: 30, state: tokens > thresholds.warning ? "warning" : "fine" },
    spent: {
      requests: isAnswered ? 2 : 0,
      counts: isAnswered ? { ...NO_TOKENS, output: 600, cacheWrite5m: 5_000, cacheRead: 13_000 } : NO_TOKENS,
      hitRatio: isAnswered ? 0.72 : 0,
      dollars: isAnswered ? 0.0467 : 0,
      unpriced: [],
      byPurpose: [],
      savings: count > 11 ? SAVINGS : [],
    },
    notesTokens: count > 11 ? 2_400 : 0,
    promptEstimate: isPrepared ? 4_400 : 0,
    boundary: { summarised: 38, kept: 5 },
  }
}

export const stateAfter = (count: number): DemoState =>
  eventsOfDemo
    .slice(0, count)
    .reduce(
      (state, event, i) => after(state, { event, measure: () => reading(i + 1) }),
      initialState({ model: "claude-opus-5-5", thresholds, planned: 25 }),
    )

const LONG_RUN = [
  { sent: 10_000, everything: 10_000, output: 300 },
  { sent: 26_000, everything: 58_000, output: 300 },
  { sent: 26_000, everything: 332_000, output: 300 },
]

/** The final output of the demo. */
export const ENDING = (columns: number): readonly string[] =>
  summary(
    {
      state: { ...stateAfter(eventsOfDemo.length), requests: LONG_RUN },
      elapsedMs: 61_000,
      artifacts: { files: new Map(), commands: new Map() },
      facts: [
        { kind: "messages", all: 5, inView: 5, recalled: 0, inLastWindow: 3 },
        { kind: "rules", all: 2, inView: 2, recalled: 0, inLastWindow: 1 },
        { kind: "changes", all: 6, inView: 6, recalled: 0, inLastWindow: 5 },
        { kind: "results", all: 151, inView: 12, recalled: 139, inLastWindow: 43 },
      ],
      nextDay: {
        kept: ["From now on, always write findings to docs/FINDINGS.md, because the whole team looks for them there."],
        used: [{ text: '"Never delete a file."', source: "you said it", age: "yesterday" }],
        written: ["docs/FINDINGS.md"],
        spent: undefined,
      },
      strata: "npx --no-install strata",
      hasKey: false,
    },
    { style, columns },
  ).flatMap((line) => line.split("\n"))
