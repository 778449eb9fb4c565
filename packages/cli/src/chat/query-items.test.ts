import type { QueryEvent } from "@strata/core"
import { expect, test } from "vitest"
import { openedItem } from "./folded.ts"
import { itemsAfter } from "./query-items.ts"
import { type Item, settledItems } from "./state.ts"

const shown = (event: QueryEvent) => itemsAfter([], event)

const BOUNDARY: QueryEvent = { type: "boundary", uuid: "u", trigger: "auto", tokensBefore: 167_000 }
const COMPACTED: QueryEvent = { type: "compacted", tokensBefore: 167_000, tokensAfter: 23_000, route: "notes" }

test("LOOP-2 a compaction is one item, with its summary and what was added after it", () => {
  const items = [
    BOUNDARY,
    { type: "summary", uuid: "s", text: "Summary:\nAll is well." },
    { type: "attached", kind: "carried_facts", about: "" },
    { type: "attached", kind: "file", about: "a.ts" },
    COMPACTED,
    { type: "attached", kind: "nested_memory", about: "src/AGENTS.md" },
  ] satisfies readonly QueryEvent[]
  expect(items.reduce<readonly Item[]>((all, event) => itemsAfter(all, event), [])).toEqual([
    {
      kind: "compaction",
      tokensBefore: 167_000,
      summary: "Summary:\nAll is well.",
      restored: ["facts from the journal", "file a.ts"],
      outcome: { tokensAfter: 23_000, route: "notes" },
    },
    { kind: "notice", tone: "plain", text: "Attached: instructions src/AGENTS.md" },
  ])
  expect(settledItems(itemsAfter([], BOUNDARY))).toBe(0)
})

test("L4-14 steps of a compaction are no items; what hooks say and a failure are", () => {
  expect(shown({ type: "compaction", progress: { phase: "preparing" } })).toEqual([])
  expect(shown({ type: "compaction", progress: { phase: "message", message: "A hook says so." } })).toEqual([
    { kind: "notice", tone: "plain", text: "A hook says so." },
  ])
  expect(shown({ type: "compaction", progress: { phase: "failed", message: "It failed." } })).toEqual([
    { kind: "notice", tone: "warning", text: "It failed." },
  ])
})

test("opened, it is the summary and what was added after it", () => {
  const item = {
    kind: "compaction",
    tokensBefore: 167_000,
    summary: "Summary:\nAll is well.\n",
    restored: ["file a.ts"],
    outcome: { tokensAfter: 23_000, route: "notes" },
  } as const
  expect(openedItem(item)).toEqual({
    title: "Compacted: 167,000 to 23,000 tokens, from the notes.",
    lines: ["Summary:", "All is well.", "", "Added afterwards:", "- file a.ts"],
  })
  expect(openedItem({ kind: "notice", tone: "plain", text: "x" })).toBeUndefined()
})

test("what a layer did quietly is no warning; a notice is", () => {
  expect(shown({ type: "notice", message: "m", quiet: true })).toMatchObject([{ tone: "plain" }])
  expect(shown({ type: "notice", message: "m" })).toMatchObject([{ tone: "warning" }])
})

test("L4-33 a boundary is one line that opens: what was replaced, when, the summary, what was restored; what was before it stays", () => {
  const at = new Date(2026, 0, 5, 14, 3).getTime()
  const before = [{ kind: "user", text: "go" } as const]
  const events: readonly QueryEvent[] = [
    { ...BOUNDARY, messages: 57 } as QueryEvent,
    { type: "summary", uuid: "s", text: "It was about ports." },
    { type: "attached", kind: "file", about: "src/a.ts" },
    { type: "compacted", tokensBefore: 167_000, tokensAfter: 54_000, route: "notes" },
  ]
  const items = events.reduce((all, event) => itemsAfter(all, event, at), before as ReturnType<typeof itemsAfter>)
  expect(items[0]).toEqual(before[0])
  expect(items).toHaveLength(2)
  const opened = openedItem(items[1]!)!
  expect(opened.title).toBe("Compacted: 167,000 to 54,000 tokens, from the notes.")
  expect(opened.lines).toEqual([
    "57 messages replaced at 14:03. The journal keeps them.",
    "",
    "It was about ports.",
    "",
    "Added afterwards:",
    "- file src/a.ts",
  ])
})
