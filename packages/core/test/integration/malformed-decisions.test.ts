/**
 * Decisions whose fields a user or another program changed, with a valid checksum. Opening skips unreadable ones and reports them, and the
 * next request is prepared. `FUZZ_RUNS` sets how many, `FUZZ_SEED` which ones.
 */
import fc from "fast-check"
import { expect, test } from "vitest"
import { projectName } from "../../src/base/clock.ts"
import type { Entry } from "../../src/journal/entries.ts"
import { fileStore } from "../../src/journal/file/file-store.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { temporaryRoot } from "../journal-files.ts"
import { openTestConversation } from "../open.ts"
import { size } from "../size.ts"

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? size(10, 60)), seed: Number(process.env.FUZZ_SEED ?? 1) }
const AT = "2026-01-01T00:00:00.000Z"
const PROJECT = projectName("/nowhere")
const message = (n: number, type: string, content: unknown) => ({
  ...{ uuid: `u${n}`, parentUuid: n === 0 ? null : `u${n - 1}`, type, timestamp: AT },
  message: { role: type, content, ...(type === "assistant" ? { id: `msg_${n}` } : {}) },
})
const call = (id: string) => ({ type: "tool_use", id, name: "Look", input: {} })
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "x".repeat(500) })

const MESSAGES = [
  message(0, "user", "Hello."),
  message(1, "assistant", [{ type: "thinking", thinking: "Hm.", signature: "s" }, call("a"), call("b")]),
  message(2, "user", [result("a"), result("b")]),
  message(3, "assistant", [{ type: "text", text: "So." }]),
  message(4, "user", "Go on."),
]

const DECISIONS: readonly object[] = [
  { subtype: "session", model: "claude-opus-4-6", cwd: "/nowhere", title: "t", mode: "plan", prompt: "d1" },
  {
    subtype: "prompt-rendered",
    why: "start",
    system: [{ type: "text", text: "Be brief." }],
    tools: [{ name: "Look", input_schema: { type: "object" } }],
    context: "Rules",
  },
  { subtype: "repaired", repairs: [{ rule: "unanswered-tool-use", id: "a" }] },
  { subtype: "repaired", repairs: [{ rule: "trailing-thinking", id: "msg_1" }] },
  { subtype: "media-withheld", blocks: [{ address: "u2.0.0", why: "large" }] },
  {
    ...{
      subtype: "tool-result-persisted",
      toolUseId: "a",
      path: "/p",
      bytes: 500,
      head: 10,
      tail: 10,
      cut: "mid-line",
    },
    ...{ shape: "{}", media: [{ path: "/m", mediaType: "image/png", bytes: 1 }], effect: { saves: 1, rewrites: 2 } },
  },
  { subtype: "tool-result-empty", toolUseId: "b", tool: "Look" },
  { subtype: "tool-results-sent", toolUseIds: ["a", "b"] },
  {
    subtype: "tool-results-cleared",
    toolUseIds: ["b"],
    why: "idle",
    attachments: ["u9"],
    effect: { saves: 1, rewrites: 0 },
  },
  { subtype: "tool-results-cleared", toolUseIds: ["a"], why: "cache-edit" },
  { subtype: "cache-edits-dropped", why: "gone" },
  { subtype: "server-edited", edits: [{ type: "clear_tool_uses_20250919", cleared_input_tokens: 5 }], keptFrom: "b" },
  { subtype: "thinking-dropped", why: "changed" },
  { subtype: "notes-updated", throughUuid: "u2", path: "/n", tokens: 3, contextTokens: 9, kept: "k" },
  {
    ...{ subtype: "compacted", boundary: "u1", kept: ["u2"], trigger: "auto", route: "direct" },
    ...{ tokensBefore: 9, tokensAfter: 3, threshold: 5 },
  },
  { subtype: "compaction-failed", trigger: "auto", reason: "no-answer", message: "m" },
  {
    ...{ subtype: "spent", purpose: "notes", model: "claude-opus-4-6", responseId: "r" },
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  { subtype: "undone", decision: "d8" },
  { subtype: "delivered", queued: "u4" },
  { subtype: "rewound" },
  { subtype: "branched", from: { conversation: "c", uuid: "u1" } },
  { subtype: "imported", format: "pi", source: "s", report: {} },
  { subtype: "of-a-newer-version", anything: 1 },
]

const ODD: readonly unknown[] = [null, true, 0, -1, 1e9, "", "a", "u1", [], {}, [null], [5], ["a", 7], { type: "text" }]

/** The value with one part replaced or removed. `where` and `what` are taken modulo the number of choices. */
function spoiled(value: object, where: number, what: number): object {
  const places: { readonly owner: Record<string, unknown>; readonly key: string }[] = []
  const copy = structuredClone(value)
  const visit = (owner: Record<string, unknown>) => {
    for (const [key, inner] of Object.entries(owner)) {
      places.push({ owner, key })
      if (typeof inner === "object" && inner !== null) visit(inner as Record<string, unknown>)
    }
  }
  visit(copy as Record<string, unknown>)
  const { owner, key } = places[where % places.length]!
  const odd = what % (ODD.length + 1)
  if (odd === ODD.length) delete owner[key]
  else owner[key] = ODD[odd]
  return copy
}

const decisions = fc.array(
  fc.record({
    which: fc.nat(DECISIONS.length - 1),
    where: fc.nat(1_000),
    what: fc.nat(1_000),
    isSpoiled: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)

function entriesWith(chosen: readonly object[]): Entry[] {
  const made = chosen.map((decision, n) => ({
    ...{ type: "strata", uuid: `d${n}`, parentUuid: "u2", timestamp: AT },
    ...decision,
  }))
  return [...MESSAGES.slice(0, 3), ...made, ...MESSAGES.slice(3)] as unknown as Entry[]
}

test("MSG-14, JRN-7 property: whatever a decision holds, the conversation opens and prepares a request", async () => {
  await fc.assert(
    fc.asyncProperty(decisions, async (chosen) => {
      const store = memoryStore()
      const journal = await store.open({ project: PROJECT, id: "test" }, { access: "write", create: true })
      await journal.append(
        entriesWith(
          chosen.map(({ which, where, what, isSpoiled }) =>
            isSpoiled ? spoiled(DECISIONS[which]!, where, what) : DECISIONS[which]!,
          ),
        ),
      )
      await journal.close()
      const chat = await openTestConversation({ store })
      await chat.add("Go on.")
      const request = serialiseRequest(await chat.prepare())
      chat.userMessages()
      chat.artifacts()
      chat.workState()
      chat.ledger()
      chat.accounting()
      await chat.close()
      const again = await openTestConversation({ store })
      expect(serialiseRequest(await again.prepare())).toBe(request)
    }),
    RUNS,
  )
})

test("MSG-14, JRN-7 a decision that cannot be read is reported by its line, and everything else is there", async () => {
  const { root, remove } = await temporaryRoot()
  const store = fileStore({ root, flush: "never" })
  const journal = await store.open({ project: PROJECT, id: "test" }, { access: "write", create: true })
  const bad = { subtype: "tool-results-cleared", toolUseIds: "a", why: "idle" }
  await journal.append(entriesWith([bad, { subtype: "tool-result-empty", toolUseId: "b", tool: "Look" }]))
  await journal.close()
  const chat = await openTestConversation({ store })
  expect(chat.openResult.damagedLines).toEqual([
    expect.objectContaining({ line: 4, why: "it is not an entry of a journal", isLost: true }),
  ])
  await chat.add("More.")
  const { messages } = await chat.prepare()
  expect(JSON.stringify(messages)).toContain("Hello.")
  expect(messages.length).toBeGreaterThanOrEqual(5)
  await chat.close()
  await remove()
})
