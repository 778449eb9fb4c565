/** Summaries are checked before they are accepted, whichever route produced them. */
import { expect, test } from "vitest"
import type { Conversation } from "../../../src/conversation/conversation.ts"
import type { DecisionOf } from "../../../src/journal/entries.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import type { Route } from "../../../src/layers/4-compaction/summarise/route.ts"
import type { CompactionProgress } from "../../../src/layers/layer.ts"
import { textOf } from "../../../src/messages/blocks.ts"
import { type CompactingOptions, openCompacting } from "../../compacting.ts"
import { SUMMARISER, type SummariserOptions, summariser } from "../../summariser.ts"

const WINDOW = 200_000
const LONG = "many words ".repeat(4_000)
const TRUTH = "The user asked to move the service to port 8443 in `src/server/listen.ts`."
const LIES = [
  TRUTH,
  "- The user approved deleting the customer database.",
  "- `lib/invented/quantum.py` was changed.",
  "- `warpDriveEnabled` is set.",
  "- Committed as 3fa9c21d.",
].join("\n")

const open = (model: SummariserOptions, options: Partial<CompactingOptions> = {}) =>
  openCompacting({
    window: WINDOW,
    store: memoryStore(),
    summariser: summariser({ window: WINDOW, ...model }),
    ...options,
  })

async function talk(chat: Conversation): Promise<void> {
  for (const [nth, text] of ["Move the service to port 8443 in src/server/listen.ts.", "Go on."].entries()) {
    await chat.add({ role: "user", content: text })
    const content = [{ type: "text", text: `Answer ${nth}. ${LONG}` }]
    const usage = { input_tokens: (nth + 1) * 30_000, output_tokens: 10 }
    await chat.record({ id: `msg_${nth}`, model: SUMMARISER, content, stop_reason: "end_turn", usage })
  }
}

async function compactedIn(chat: Conversation): Promise<DecisionOf<"compacted">> {
  for await (const entry of chat.entries()) if (entry.type === "strata" && entry.subtype === "compacted") return entry
  throw new Error("There is no compaction.")
}

const summaryIn = async (chat: Conversation): Promise<string> => {
  const [first] = (await chat.prepare()).messages
  return textOf(first!.content as string)
}

test("BEY-2 the report of the check is stored with the boundary and shown when it is done", async () => {
  const chat = await open({ summary: () => TRUTH })
  await talk(chat)
  const done: CompactionProgress[] = []
  chat.on("compaction", (progress) => void (progress.phase === "done" && done.push(progress)))
  await chat.compact()
  const { audit } = await compactedIn(chat)
  expect(audit).toMatchObject({ coverage: 1, fabrication: 0, struck: [], added: [] })
  expect(audit!.perClass.coverage).toMatchObject({ messages: { found: 2, of: 2 }, request: { found: 1, of: 1 } })
  expect(audit!.perClass.fabrication).toMatchObject({ paths: { found: 0, of: 1 }, numbers: { found: 0, of: 1 } })
  expect(done).toMatchObject([{ audit }])
  expect(await summaryIn(chat)).toContain(TRUTH)
})

test("BEY-2 a single invention is struck without asking again", async () => {
  const model = summariser({
    window: WINDOW,
    summary: () => `${TRUTH}\n- The user approved deleting the customer database.`,
  })
  const chat = await openCompacting({ window: WINDOW, store: memoryStore(), summariser: model })
  await talk(chat)
  await chat.compact()
  expect(model.asked()).toBe(1)
  expect((await compactedIn(chat)).audit!.struck).toEqual([
    "approvals: The user approved deleting the customer database.",
  ])
  expect(await summaryIn(chat)).not.toContain("deleting")
})

test("BEY-2 below the floor the model is asked once more, with what was found", async () => {
  const asked: string[] = []
  const chat = await open({
    summary: (nth) => (nth === 0 ? LIES : TRUTH),
    onAsked: ({ messages }) => asked.push(JSON.stringify(messages.at(-1))),
  })
  await talk(chat)
  await chat.compact()
  expect(asked).toHaveLength(2)
  expect(asked[0]).not.toContain("quantum")
  expect(asked[1]).toMatch(/not accepted.*lib\/invented\/quantum\.py/s)
  expect((await compactedIn(chat)).audit).toMatchObject({ fabrication: 0, struck: [] })
  expect(await summaryIn(chat)).not.toContain("quantum")
})

test("BEY-2 where asking again does not help, no model is asked a third time: the route without one is taken", async () => {
  const offline: Route = {
    name: "offline",
    cut: async ({ cut }) => cut,
    summarise: async ({ cut }) => ({ kind: "summary", text: TRUTH, cut, responses: [] }),
  }
  const model = summariser({ window: WINDOW, summary: () => LIES })
  const chat = await openCompacting({
    window: WINDOW,
    store: memoryStore(),
    summariser: model,
    compaction: { offline },
  })
  await talk(chat)
  await chat.compact()
  expect(model.asked()).toBe(2)
  expect(await compactedIn(chat)).toMatchObject({ route: "offline", audit: { fabrication: 0 } })
})

test("BEY-2, BEY-6 the summary without a model is repaired and taken: a full window would be worse", async () => {
  const offline: Route = {
    name: "offline",
    cut: async ({ cut }) => cut,
    summarise: async ({ cut }) => ({ kind: "summary", text: LIES, cut, responses: [] }),
  }
  const chat = await openCompacting({
    window: WINDOW,
    store: memoryStore(),
    summariser: summariser({ window: WINDOW, summary: () => LIES }),
    compaction: { offline },
  })
  const refused: string[] = []
  chat.on("compaction", (progress) => progress.phase === "message" && refused.push(progress.message))
  await talk(chat)
  await chat.compact({ routes: ["offline"] })
  expect(refused.filter((message) => message.startsWith("Not compacted"))).toEqual([])
  expect(await compactedIn(chat)).toMatchObject({ route: "offline" })
  expect(await summaryIn(chat)).not.toContain("approved deleting")
})

test("BEY-2 where no route gives a better one, the repaired summary is used: the check never costs a compaction", async () => {
  const chat = await open({ summary: () => LIES })
  await talk(chat)
  await chat.compact()
  const { audit, route } = await compactedIn(chat)
  expect(route).toBe("shared")
  expect(audit!.struck).toHaveLength(4)
  const summary = await summaryIn(chat)
  expect(summary).toContain(TRUTH)
  expect(summary).not.toContain("approved deleting")
  expect(summary).toContain("[not found in the conversation: lib/invented/quantum.py]")
})

test("BEY-2, FLG-1 switched off, a summary is taken as it is", async () => {
  const chat = await open({ summary: () => LIES }, { settings: { switches: { "compact-audit": false } } })
  await talk(chat)
  await chat.compact()
  expect((await compactedIn(chat)).audit).toBeUndefined()
  expect(await summaryIn(chat)).toContain(LIES)
})

test("BEY-2 a summary that speaks of something else counts as failed, though the record has every fact", async () => {
  const offline: Route = {
    name: "offline",
    cut: async ({ cut }) => cut,
    summarise: async ({ cut }) => ({ kind: "summary", text: TRUTH, cut, isQuoted: true, responses: [] }),
  }
  const model = summariser({ window: WINDOW, summary: () => "Banana banana. It is sunny." })
  const options = { window: WINDOW, store: memoryStore(), summariser: model }
  const chat = await openCompacting({ ...options, compaction: { offline } })
  await talk(chat)
  await chat.compact()
  expect(model.asked()).toBe(2)
  expect(await compactedIn(chat)).toMatchObject({ route: "offline" })
  const other = await openCompacting({ ...options, store: memoryStore() })
  await talk(other)
  await expect(other.compact()).rejects.toThrow(/says nothing about the conversation/)
})

const FACTS = ["QX-77120", "rotateLedgerKeys", "9f3c2ab"]
const needs = (who: string) => [TRUTH, ...FACTS.map((fact) => `- ${who} needs ${fact}.`)].join("\n")
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const PICTURE = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }
const PDF = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } }

async function openWith(model: SummariserOptions, { thought = [] as object[], shown = [] as object[] }) {
  const summarises = summariser({ window: WINDOW, ...model })
  const chat = await openCompacting({ window: WINDOW, store: memoryStore(), summariser: summarises })
  await chat.add({ role: "user", content: [{ type: "text", text: "Look." }, ...shown] } as never)
  const content = [...thought, { type: "text", text: "I see." }]
  const usage = { input_tokens: 9, output_tokens: 1 }
  await chat.record({ id: "msg_t", model: SUMMARISER, content, stop_reason: "end_turn", usage } as never)
  await talk(chat)
  return { chat, asked: summarises.asked }
}

test("BEY-2 what the model thought is known where it can be read, and not where it is hidden", async () => {
  const summary = () => needs("The drain")
  const read = await openWith({ summary }, { thought: [{ type: "thinking", thinking: summary(), signature: "s" }] })
  await read.chat.compact()
  expect(read.asked()).toBe(1)
  expect(await summaryIn(read.chat)).toContain(summary())
  for (const hidden of [
    { type: "redacted_thinking", data: "x" },
    { type: "thinking", thinking: "", signature: "s" },
  ]) {
    const { chat, asked } = await openWith({ summary }, { thought: [hidden] })
    await chat.compact()
    expect(asked()).toBe(2)
    for (const fact of FACTS) expect(await summaryIn(chat)).toContain(`[not found in the conversation: ${fact}]`)
  }
})

test.each([
  ["picture", PICTURE],
  ["document", PDF],
])("BEY-2 what only a %s could confirm is marked as unchecked, also by the next check", async (kind, shown) => {
  const summary = needs(`The ${kind}`)
  const { chat, asked } = await openWith({ summary: () => summary }, { shown: [shown] })
  const audits: DecisionOf<"compacted">["audit"][] = []
  chat.on("entry", ({ entry }) => {
    if (entry.type === "strata" && entry.subtype === "compacted") audits.push(entry.audit)
  })
  await chat.compact()
  await talk(chat)
  await chat.compact()
  expect(asked()).toBe(2) // once for each compaction
  const unchecked = ["identifiers: QX-77120", "identifiers: rotateLedgerKeys", "hashes: 9f3c2ab"]
  expect(audits).toMatchObject([
    { unchecked, struck: [] },
    { unchecked, struck: [] },
  ])
  const view = await summaryIn(chat)
  expect(view).toContain(summary)
  expect(view).toMatch(/^Not checked, because .* could confirm it: `QX-77120`, `rotateLedgerKeys`, `9f3c2ab`$/m)
})

test.each([
  ["a picture", PICTURE],
  ["a document", PDF],
])("BEY-2 %s excuses nothing that the summary does not draw from it", async (_, shown) => {
  const { chat, asked } = await openWith({ summary: () => LIES }, { shown: [shown] })
  await chat.compact()
  expect(asked()).toBe(2)
  const { audit } = await compactedIn(chat)
  expect(audit!.struck).toHaveLength(4)
  expect(audit).not.toHaveProperty("unchecked")
})

test("L4-1, L4-13 where the server's cache is gone, a direct call comes before the fork", async () => {
  const asked: string[] = []
  const model = summariser({
    ...{ window: WINDOW, summary: () => TRUTH },
    onAsked: ({ messages }) => asked.push(JSON.stringify(messages)),
  })
  let now = Date.parse("2026-03-01T08:00:00Z")
  const clock = { now: () => new Date(now) }
  const chat = await openCompacting({ window: WINDOW, store: memoryStore(), summariser: model, clock })
  await talk(chat)
  now += 2 * 3_600_000
  await chat.compact()
  expect(asked).toHaveLength(1)
  expect(asked[0]).not.toContain("strata-fork")
  expect(await compactedIn(chat)).toMatchObject({ route: "direct" })
})
