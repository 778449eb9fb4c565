import { type DecisionEntry, type Entry, handleOf } from "@strata/core"
import { listLayerDecisions } from "@strata/page"
import type { Transcript } from "@strata/transcripts"
import { expect, it } from "vitest"
import { plainStyle as style } from "../display/terminal.ts"
import { widthOf } from "../display/text.ts"
import { analyse } from "./analysis.ts"
import { report } from "./report.ts"

let placed = 0
const place = () => ({
  uuid: `d${++placed}`,
  parentUuid: null,
  timestamp: new Date(Date.UTC(2026, 0, 1, 0, placed)).toISOString(),
})
const decision = (facts: object): DecisionEntry => ({ ...place(), type: "strata", ...facts }) as DecisionEntry
const response = (read: number, write: number): Entry => ({
  ...place(),
  type: "assistant",
  message: {
    id: `r${placed}`,
    role: "assistant",
    model: "claude-opus-4-6",
    content: [{ type: "text", text: "…" }],
    usage: { input_tokens: 1, output_tokens: 9, cache_read_input_tokens: read, cache_creation_input_tokens: write },
  },
})
const serverEdited = (tokens: number) =>
  decision({ subtype: "server-edited", edits: [{ type: "clear_tool_uses_20250919", cleared_input_tokens: tokens }] })

const ENTRIES: readonly Entry[] = [
  response(0, 40_000),
  decision({
    subtype: "tool-result-persisted",
    toolUseId: "t",
    path: "p",
    bytes: 80_000,
    head: 1,
    tail: 1,
    effect: { saves: 20_000, rewrites: 0 },
  }),
  response(40_000, 500),
  decision({
    subtype: "tool-results-cleared",
    toolUseIds: ["a", "b"],
    why: "size",
    effect: { saves: 15_000, rewrites: 9_000 },
  }),
  response(5_000, 21_000),
  serverEdited(3_000),
  response(26_000, 100),
  serverEdited(3_000),
  decision({ subtype: "compaction-failed", trigger: "auto", reason: "r", message: "模型没有回答，请稍后再试" }),
]

const transcript: Transcript = {
  file: "own.jsonl",
  format: "strata",
  id: "own",
  model: "claude-opus-4-6",
  report: { lines: 9, understood: {}, notUnderstood: {}, notes: [] },
  entries: ENTRIES,
  aside: [],
}

it("decisions of the layers, each with its turn, and what the server reports only where it is more", () => {
  expect(listLayerDecisions(ENTRIES)).toEqual([
    { turn: 1, what: "put aside", tokens: 20_000, rewrites: 0, about: "80,000 bytes" },
    {
      turn: 2,
      what: "cleared",
      tokens: 15_000,
      rewrites: 9_000,
      about: "2 results, because the window was filling up",
    },
    { turn: 3, what: "cleared by the server", tokens: 3_000, about: "from its copy of the request" },
    { turn: 4, what: "compaction failed", about: "automatic: 模型没有回答，请稍后再试" },
  ])
})

it("BEY-4 CACHE-8 a change of the cache's lifetime is listed with its sentence", () => {
  const why = "Tools and system prompt are cached for an hour, messages for five minutes."
  const chosen = { subtype: "cache-lifetime", forPrompt: "1h", forMessages: "5m", why }
  const about = "tools and system prompt for an hour, messages for five minutes"
  expect(listLayerDecisions([decision(chosen as never)])).toEqual([
    { turn: 0, what: "cache lifetime", about, planned: why },
  ])
})

it("BEY-4 a planned compaction is listed with its sentence", async () => {
  const why = "About 60,000 old tokens need not be sent again: the cache is gone."
  const compacted = { subtype: "compacted", boundary: "b", kept: [], trigger: "auto", route: "shared", planned: why }
  const entries = [...ENTRIES, decision({ ...compacted, tokensBefore: 90_000, tokensAfter: 30_000 })]
  expect(listLayerDecisions(entries).at(-1)).toEqual({
    ...{ turn: 4, what: "compacted", tokens: 60_000, about: "planned, shared", planned: why },
  })
  const lines = report(await analyse({ ...transcript, entries }), { style, columns: 110 })
  expect(lines).toContain(`  Planned after turn 4: ${why}`)
})

it("BEY-13 folded and snipped ranges are listed with their handles", () => {
  const range = { from: "from", to: "to", effect: { saves: 4_000, rewrites: 900 } }
  const handles = `${handleOf("from")} to ${handleOf("to")}`
  expect(
    listLayerDecisions([
      decision({ subtype: "folded", line: "[Folded: …]", ...range }),
      decision({ subtype: "snipped", by: "agent", why: "a dead end", ...range }),
      decision({ subtype: "snipped", by: "user", why: "", ...range }),
    ]),
  ).toEqual([
    { turn: 0, what: "folded", tokens: 4_000, rewrites: 900, about: handles },
    { turn: 0, what: "snipped", tokens: 4_000, rewrites: 900, about: `${handles}, the agent proposed it: a dead end` },
    { turn: 0, what: "snipped", tokens: 4_000, rewrites: 900, about: handles },
  ])
})

it.each([80, 120])(
  "CACHE-5 a journal of our own shows its layers, what they saved, and lost caches with money: %i columns",
  async (columns) => {
    const lines = report(await analyse(transcript), { style, columns })
    for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(columns)
    const text = lines.join("\n")
    expect(text).toMatch(/lost 1 time; [\d.]+K tokens paid again, for \$0\.\d+:/)
    if (columns === 80)
      expect(text.slice(text.indexOf("Layers"))).toMatchInlineSnapshot(`
        "Layers  4 decisions; $0.0624 saved, 96.0K tokens not sent
          turn  decision               tokens  rewritten  about
             1  put aside               20.0K             80,000 bytes
             2  cleared                 15.0K       9.0K  2 results, because the window…
             3  cleared by the server    3.0K             from its copy of the request
             4  compaction failed           ?             automatic: 模型没有回答，请稍…

          layer                  times  removed  not sent    worth     cost     saved
          results offloaded          1    20.0K     60.0K  $0.1450  $0.0000   $0.1450
          results cleared            1    15.0K     30.0K  $0.0150  $0.0517  -$0.0367
          cleared by the server      1     3.0K      6.0K  $0.0030  $0.0489  -$0.0459
          results offloaded: Compared with leaving the results in the context. Each
          would have been written to the cache once and read with every later request
          until the next boundary, or written again where the cache was lost.
          results cleared: Compared with not clearing. The results would have been read
          with every later request until the next boundary, or written again where the
          cache was lost. Rewriting the cache after them is subtracted. A clearing that
          avoided a compaction counts neither way: the compaction would have removed the
          results and rewritten the cache too. It has cost more than it saved so far.
          cleared by the server: Compared with a server that clears nothing. Each
          request would have carried what the server reports as cleared. Rewriting the
          cache after it is subtracted. It has cost more than it saved so far."
      `)
  },
)

it("a recording of another program has no such section", async () => {
  const entries = ENTRIES.filter(({ type }) => type !== "strata")
  expect(report(await analyse({ ...transcript, entries }), { style, columns: 80 }).join("\n")).not.toContain("Layers")
})

it("BEY-3 an undo says in plain words what it took back, and where a person asked for it", () => {
  const cleared = decision({ subtype: "tool-results-cleared", toolUseIds: ["a"], why: "asked" })
  const folded = decision({ subtype: "folded", from: "m1", to: "m2", line: "[Folded]" })
  const images = decision({ subtype: "media-withheld", blocks: ["m1.0"], why: "asked" })
  const undo = (uuid: string, more = {}) => decision({ subtype: "undone", decision: uuid, ...more })
  const entries = [cleared, folded, images, undo(cleared.uuid), undo(folded.uuid, { by: "chat" }), undo(images.uuid)]
  const boundaryElsewhere = undo("b1", { tokens: 90_000, by: "page" })
  const about = listLayerDecisions([...entries, boundaryElsewhere]).filter(({ what }) => what === "undone")
  expect(about.map((one) => one.about)).toEqual([
    "a clearing of results",
    "a fold, asked for in the chat",
    "a clearing of images",
    "a compaction, to 90,000 tokens again, asked for on the page",
  ])
})
