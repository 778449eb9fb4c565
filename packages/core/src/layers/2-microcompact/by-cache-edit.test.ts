import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import { RUNS } from "../../../test/runs.ts"
import { manualClock, seededIds } from "../../base/clock.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import type { ConversationOptions } from "../../conversation/options.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import type { Block } from "../../messages/blocks.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { CLEARED_MARKER } from "../../views/context/render-decisions.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import { planByCacheEdit } from "./clearing.ts"
import { microcompaction } from "./microcompaction.ts"

const FEW = Math.max(2, Math.ceil(RUNS / 8)) // each opens a conversation after every step

const MINUTE = 60_000
const MODEL = "claude-opus-5-5"
const EDITING = { models: { [MODEL]: { accepts: { cacheEditing: true } } }, switches: { "clear-by-api": false } }
const open = (options: Partial<ConversationOptions> = {}) =>
  openTestConversation({ model: MODEL, settings: EDITING, layers: [microcompaction()], ...options })

/** Adds a call and its result; `usage` is that of the response with the call. */
async function call(chat: Conversation, id: string, usage: Partial<Usage> = {}): Promise<void> {
  await chat.record({
    id: `msg_${id}`,
    model: MODEL,
    content: [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "tool_use", id, name: "Bash", input: {} },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 10, output_tokens: 5, ...usage },
  })
  const content = "output ".repeat(200)
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] })
}

async function twelveCalls(chat: Conversation): Promise<void> {
  await chat.add({ role: "user", content: "go" })
  for (let n = 0; n < 12; n++) await call(chat, `toolu_${n}`, { cache_read_input_tokens: 10_000 + n * 300 })
}

const blocksIn = ({ messages }: ModelRequest) => messages.flatMap(({ content }) => content as Block[])
/** Positions (message, block) of the requested deletions, and the calls they delete. */
const editsIn = ({ messages }: ModelRequest) =>
  messages.flatMap(({ content }, message) =>
    (content as { type: string; edits?: { cache_reference: string }[] }[]).flatMap(({ type, edits = [] }, block) =>
      type === "cache_edits" ? [{ at: `${message}.${block}`, ids: edits.map((edit) => edit.cache_reference) }] : [],
    ),
  )
const clearedIn = (request: ModelRequest) =>
  blocksIn(request).flatMap((block) =>
    block.type === "tool_result" && String(block.content).startsWith(CLEARED_MARKER) ? block.tool_use_id : [],
  )
const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `toolu_${from + i}`)
const decisions = async (chat: Conversation) =>
  (await entriesOf(chat)).flatMap((entry) =>
    entry.type === "strata" && /cleared|cache-edits|thinking/.test(entry.subtype) ? entry : [],
  )

test("L2-2 the plan: nothing below twelve, then all but the newest five; what is smaller than a marker does not count", () => {
  const result = (n: number, saving = 100) => ({ toolUseId: `r${n}`, tokens: 130, saving, before: n * 130 })
  const figures = { active: 12, keep: 5 }
  const twelve = Array.from({ length: 12 }, (_, n) => result(n))
  expect(planByCacheEdit(twelve.slice(1), figures)).toEqual([])
  expect(planByCacheEdit(twelve, figures)).toEqual(["r0", "r1", "r2", "r3", "r4", "r5", "r6"])
  expect(planByCacheEdit([result(20, -3), ...twelve.slice(1)], figures)).toEqual([])
})

describe("L2-2 by cache edit", () => {
  test("the messages stay as they are, a block asks for the deletion, and the size follows", async () => {
    const chat = await open()
    await twelveCalls(chat)
    const before = engineOf(chat).views.context.size().tokens
    const request = await chat.prepare()
    expect(clearedIn(request)).toEqual([])
    expect(editsIn(request)).toEqual([{ at: "24.1", ids: ids(0, 7) }])
    expect(before - engineOf(chat).views.context.size().tokens).toBeGreaterThan(7 * 150)
    expect(blocksIn(request).filter(({ type }) => type === "thinking")).toHaveLength(12)
    const [decision] = await decisions(chat)
    expect(decision).toMatchObject({ why: "cache-edit", toolUseIds: ids(0, 7), effect: { rewrites: 0 } })
    expect(await decisions(chat)).toHaveLength(1)
  })

  test("L2-12 above the warning threshold too: what is deleted in the cache is not cleared by size as well", async () => {
    const figures = { "size-clear-keep": 100, "size-clear-min": 100, "expected-turns": 10_000 }
    const chat = await open({ settings: { ...EDITING, figures, autoCompactTokens: 30_000 } })
    await twelveCalls(chat)
    expect(chat.windowUsage().state).toBe("warning")
    expect(clearedIn(await chat.prepare())).toEqual([])
    expect(await decisions(chat)).toMatchObject([{ why: "cache-edit", toolUseIds: ids(0, 7) }])
  })

  test("L2-3 pinned: later requests ask again at the same place, and what was deleted never counts again", async () => {
    const chat = await open()
    await twelveCalls(chat)
    await chat.prepare()
    for (let n = 12; n < 18; n++) {
      await call(chat, `toolu_${n}`, { cache_read_input_tokens: 14_000 })
      expect(editsIn(await chat.prepare())).toEqual([{ at: "24.1", ids: ids(0, 7) }])
    }
    await call(chat, "toolu_18", { cache_read_input_tokens: 14_000 })
    expect(editsIn(await chat.prepare())).toEqual([
      { at: "24.1", ids: ids(0, 7) },
      { at: "38.1", ids: ids(7, 14) },
    ])
  })

  test("L2-3 pinned also after a resume and in a branch", async () => {
    const store = memoryStore()
    const shared = { store, ids: seededIds("same"), clock: manualClock() }
    const chat = await open(shared)
    await twelveCalls(chat)
    await chat.prepare()
    await call(chat, "toolu_12", { cache_read_input_tokens: 14_000 })
    const expected = serialiseRequest(await chat.prepare())
    const branch = await chat.branch(engineOf(chat).views.context.newest!.uuid, "branch")
    await chat.close()
    for (const id of ["test", branch]) {
      const again = await open({ ...shared, id })
      expect(serialiseRequest(await again.prepare())).toBe(expected)
      await again.close()
    }
  })

  test.each([
    ["another model", { settings: {} }],
    ["a sub-agent", { layers: [microcompaction({ isMain: false })] }],
    [
      "its switch",
      { settings: { ...EDITING, switches: { "clear-by-cache-edit": false, "clear-by-api": false } as const } },
    ],
  ])("not with %s", async (_name, options) => {
    const chat = await open(options)
    await twelveCalls(chat)
    expect(editsIn(await chat.prepare())).toEqual([])
    expect(await decisions(chat)).toEqual([])
  })

  test("not where the cache is cold: there is nothing to delete in", async () => {
    const clock = manualClock()
    const chat = await open({ clock })
    await twelveCalls(chat)
    clock.advance(6 * MINUTE)
    expect(editsIn(await chat.prepare())).toEqual([])
  })
})

describe("L2-3 the cache is gone", () => {
  const expectCleared = async (chat: Conversation, why: string) => {
    const request = await chat.prepare()
    expect(editsIn(request)).toEqual([])
    expect(clearedIn(request)).toEqual(ids(0, 7))
    expect((await decisions(chat)).slice(1)).toMatchObject([
      { subtype: "cache-edits-dropped", why },
      { subtype: "tool-results-cleared", why: "idle", toolUseIds: ids(0, 7), effect: { saves: expect.any(Number) } },
      { subtype: "thinking-dropped" },
    ])
    const again = serialiseRequest(request)
    expect(serialiseRequest(await chat.prepare())).toBe(again)
    expect(blocksIn(request).some(({ type }) => type === "thinking")).toBe(false)
  }

  async function edited(options: Partial<ConversationOptions> = {}): Promise<Conversation> {
    const chat = await open(options)
    await twelveCalls(chat)
    await chat.prepare()
    return chat
  }

  test("after its five minutes: results are cleared here, and nothing comes back", async () => {
    const clock = manualClock()
    const chat = await edited({ clock })
    const lines: unknown[] = []
    chat.on("layerActed", ({ message }) => lines.push(message))
    clock.advance(6 * MINUTE)
    const size = engineOf(chat).views.context.size().tokens
    await expectCleared(chat, "idle")
    expect(engineOf(chat).views.context.size().tokens).toBeLessThanOrEqual(size)
    expect(lines).toEqual([
      "7 old tool results were cleared here, because the cache in which they were deleted is lost.",
    ])
  })

  test("early: less was read than before", async () => {
    const chat = await edited()
    await call(chat, "toolu_12", { cache_read_input_tokens: 4_000 })
    await expectCleared(chat, "less was read from the cache than before")
  })

  test("L2-4 a deletion that the server reports is no loss, and neither is a small fall", async () => {
    for (const usage of [
      { cache_read_input_tokens: 10_000, cache_deleted_input_tokens: 3_000 },
      { cache_read_input_tokens: 11_400 },
    ]) {
      const chat = await edited()
      await call(chat, "toolu_12", usage)
      expect(editsIn(await chat.prepare())).toHaveLength(1)
    }
  })

  test("a fall before anything was deleted says nothing about that cache", async () => {
    const chat = await open()
    await twelveCalls(chat)
    await call(chat, "toolu_12", { cache_read_input_tokens: 1_000 })
    expect(editsIn(await chat.prepare())).toHaveLength(1)
    expect(editsIn(await chat.prepare())).toHaveLength(1)
  })

  test("a model that does not edit caches gets no such block, with the layer or without", async () => {
    const store = memoryStore()
    await (await edited({ store })).close()
    const bare = await open({ store, settings: {}, layers: [] })
    const request = await bare.prepare()
    expect([editsIn(request), clearedIn(request)]).toEqual([[], []])
    await bare.close()
    await expectCleared(await open({ store, settings: {} }), "the model does not edit its cache")
  })

  test("L2-12 by time takes them along, in one decision", async () => {
    const clock = manualClock()
    const chat = await edited({ clock })
    for (let n = 12; n < 15; n++) await call(chat, `toolu_${n}`, { cache_read_input_tokens: 14_000 })
    clock.advance(61 * MINUTE)
    const request = await chat.prepare()
    expect(editsIn(request)).toEqual([])
    expect(clearedIn(request)).toEqual(ids(0, 10))
    expect((await decisions(chat)).slice(1)).toMatchObject([
      { subtype: "cache-edits-dropped" },
      { subtype: "tool-results-cleared", why: "idle", toolUseIds: ids(0, 10), effect: { rewrites: 0 } },
      { subtype: "thinking-dropped" },
    ])
  })
})

test("L2-3, L2-7 property: what is gone stays gone, deletions keep their place, and a resume sends the same bytes", async () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ read: fc.integer({ min: 5_000, max: 9_000 }), calls: fc.integer({ min: 1, max: 6 }) }),
    },
    { weight: 1, arbitrary: fc.record({ minutes: fc.constantFrom(1, 4, 6, 61) }) },
    { weight: 1, arbitrary: fc.record({ words: fc.constantFrom("And?", "Go on.") }) },
  )
  const settings = { ...EDITING, figures: { "cache-edit-active": 4, "cache-edit-keep": 2 } }
  let deletions = 0
  let losses = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const options = { store: memoryStore(), clock: manualClock(), ids: seededIds("property"), settings }
      let chat = await open(options)
      await chat.add({ role: "user", content: "go" })
      let gone: readonly string[] = []
      let places: ReturnType<typeof editsIn> = []
      let count = 0
      for (const taken of steps) {
        if ("minutes" in taken) options.clock.advance(taken.minutes * MINUTE)
        else if ("words" in taken) await chat.add({ role: "user", content: taken.words })
        else
          for (let n = 0; n < taken.calls; n++)
            await call(chat, `toolu_${count++}`, { cache_read_input_tokens: taken.read })
        const request = await chat.prepare()
        const asked = editsIn(request)
        const now = [...clearedIn(request), ...asked.flatMap((each) => each.ids)]
        expect(now).toEqual(expect.arrayContaining([...gone]))
        expect(new Set(now).size).toBe(now.length)
        const isLost = asked.length === 0 && places.length > 0
        if (!isLost) expect(asked.slice(0, places.length)).toEqual(places)
        losses += isLost ? 1 : 0
        deletions += asked.length > places.length ? 1 : 0
        gone = now
        places = asked
        const sent = serialiseRequest(request)
        expect(serialiseRequest(await chat.prepare())).toBe(sent)
        await chat.close()
        chat = await open(options)
        expect(serialiseRequest(await chat.prepare())).toBe(sent)
      }
    }),
    { numRuns: FEW },
  )
  expect(deletions).toBeGreaterThan(FEW / 3)
  expect(losses).toBeGreaterThan(FEW / 12)
})
