/** Summaries are checked before they are accepted, whichever route they come by. */
import { expect, test } from "vitest"
import type { Conversation } from "../../../src/conversation/conversation.ts"
import type { DecisionOf } from "../../../src/journal/entries.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import type { Route } from "../../../src/layers/4-compaction/summarise/route.ts"
import type { CompactionProgress } from "../../../src/layers/compaction-order.ts"
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

const FACTS = ["QX-77120", "rotateLedgerKeys", "9f3c2ab", "48731", "src/drain/keys.ts", "ERR_DRAIN_7"]
const KNOWN = [TRUTH, ...FACTS.map((fact) => `- The drain needs ${fact}.`)].join("\n")
const PICTURE = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } }

test.each([
  ["thinking", [{ type: "thinking", thinking: KNOWN, signature: "s" }], []],
  ["sealed thinking", [{ type: "redacted_thinking", data: "x" }], []],
  ["thinking that is left out", [{ type: "thinking", thinking: "", signature: "s" }], []],
  ["a picture", [], [PICTURE]],
  [
    "a document",
    [],
    [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } }],
  ],
])("BEY-2 what the model knows from %s is not invented", async (_, thought, shown) => {
  const model = summariser({ window: WINDOW, summary: () => KNOWN })
  const chat = await openCompacting({ window: WINDOW, store: memoryStore(), summariser: model })
  await chat.add({ role: "user", content: [{ type: "text", text: "Look." }, ...shown] } as never)
  const content = [...thought, { type: "text", text: "I see." }]
  await chat.record({
    id: "msg_t",
    model: SUMMARISER,
    content,
    stop_reason: "end_turn",
    usage: { input_tokens: 9, output_tokens: 1 },
  } as never)
  await talk(chat)
  await chat.compact()
  expect(model.asked()).toBe(1)
  for (const fact of FACTS) expect(await summaryIn(chat)).toMatch(new RegExp(`needs ${fact.replace(".", "\\.")}`))
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
