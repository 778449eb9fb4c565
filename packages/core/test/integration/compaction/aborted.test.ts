/** Aborted compactions and their hooks: the ledger contains the paid amount, and nothing else has changed. */
import { describe, expect, test } from "vitest"
import { ClosedError } from "../../../src/base/errors.ts"
import { type Conversation, engineOf } from "../../../src/conversation/conversation.ts"
import type { Entry } from "../../../src/journal/entries.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import type { CompactionHooks } from "../../../src/layers/4-compaction/compaction-context.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { type CompactingOptions, openCompacting } from "../../compacting.ts"
import { SUMMARISER, type SummariserOptions, summariser } from "../../summariser.ts"

const WINDOW = 200_000
const LONG = "many words ".repeat(4_000)

const open = (options: Partial<CompactingOptions> = {}, model: SummariserOptions = {}) =>
  openCompacting({
    window: WINDOW,
    store: memoryStore(),
    summariser: summariser({ window: WINDOW, ...model }),
    ...options,
  })

/** Two exchanges, and the request that was sent. */
async function talk(chat: Conversation, tokens = 30_000): Promise<void> {
  for (const nth of [1, 2]) {
    await chat.add({ role: "user", content: `Question ${nth}. ${LONG}` })
    const content = [{ type: "text", text: `Answer ${nth}.` }]
    const usage = { input_tokens: nth * tokens, output_tokens: 10 }
    await chat.record({ id: `msg_${nth}`, model: SUMMARISER, content, stop_reason: "end_turn", usage })
  }
  await chat.add({ role: "user", content: "Go on." })
}

async function entriesOf(chat: Conversation): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const entry of chat.entries()) entries.push(entry)
  return entries
}

const isSpent = (entry: Entry) => entry.type === "strata" && entry.subtype === "spent"
const paidFor = (chat: Conversation) =>
  [...engineOf(chat).views.ledger.lines.values()]
    .filter(({ purpose }) => purpose === "compaction" || purpose === "by-hand")
    .reduce((sum, { requests }) => sum + requests, 0)

const hooks = (some: Partial<CompactionHooks>): CompactionHooks => ({
  before: async ({ instructions }) => ({ instructions, messages: [] }),
  started: async () => ({ contexts: [], messages: [] }),
  after: async () => ({ messages: [] }),
  ...some,
})

/** A model that never answers. */
const silence = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) }

describe("giving up", () => {
  test.each(["manual", "auto"] as const)(
    "L4-14, CACHE-5 the cost of an aborted %s compaction is in the ledger, and nothing else changed",
    async (trigger) => {
      const stopping = new AbortController()
      let asked = 0
      // the fork's answer is paid and unusable; the abort comes during the direct call
      const onAsked = () => void (asked++ === 1 && stopping.abort())
      const chat = await open({}, { faults: ["tool-call"], onAsked })
      await talk(chat, trigger === "auto" ? 90_000 : 30_000)
      const sent = trigger === "manual" ? serialiseRequest(await chat.prepare()) : undefined
      const before = trigger === "manual" ? await entriesOf(chat) : undefined
      const given = trigger === "manual" ? chat.compact({}, stopping) : chat.prepare(stopping)
      await expect(given).rejects.toThrow()
      expect(stopping.signal.aborted).toBe(true)
      const after = await entriesOf(chat)
      expect(after.filter(isSpent).length).toBeGreaterThanOrEqual(1)
      expect(paidFor(chat)).toBe(after.filter(isSpent).length)
      expect(engineOf(chat).views.compactions).toMatchObject({ count: 0, failures: 0 })
      if (before) expect(after.filter((entry) => !isSpent(entry))).toEqual(before)
      if (sent) expect(serialiseRequest(await chat.prepare())).toBe(sent)
    },
  )

  test("CACHE-5 a summary that was written and then aborted is still paid for", async () => {
    const stopping = new AbortController()
    const chat = await open()
    await talk(chat)
    chat.on("compaction", ({ phase }) => phase === "restoring" && stopping.abort())
    await expect(chat.compact({}, stopping)).rejects.toThrow()
    expect(paidFor(chat)).toBe(1)
  })

  test("L4-14, L4-3 aborted while the last summary is checked: a summary that would not have been enough is not a failure", async () => {
    const stopping = new AbortController()
    const chat = await open({}, { faults: ["as-long-as-the-conversation"] })
    await talk(chat, 5_000)
    chat.on("compaction", ({ phase }) => phase === "message" && stopping.abort())
    await expect(chat.compact({ routes: ["direct"] }, stopping)).rejects.toThrow(stopping.signal.reason)
    expect(engineOf(chat).views.compactions.failures).toBe(0)
    expect(paidFor(chat)).toBe(1)
  })

  test("L4-14 a summary that is being prepared ahead of time does not block an abort", async () => {
    const stopping = new AbortController()
    const never = summariser({ window: WINDOW })
    const hanging = { ...never, stream: () => silence }
    const chat = await open({ summariser: hanging, settings: { switches: { "compact-ahead": true } } })
    await talk(chat, 98_000)
    chat.on("compaction", ({ phase }) => phase === "preparing" && stopping.abort())
    await expect(chat.prepare(stopping)).rejects.toThrow(stopping.signal.reason)
    expect(engineOf(chat).views.compactions).toMatchObject({ count: 0, failures: 0 })
  })

  test.each(["before", "started"] as const)(
    "L4-14 a hook that never ends (%s) does not block an abort",
    async (which) => {
      const stopping = new AbortController()
      const never = () => {
        queueMicrotask(() => stopping.abort())
        return new Promise<never>(() => undefined)
      }
      const chat = await open({ compaction: { hooks: hooks({ [which]: never }) } })
      await talk(chat)
      await expect(chat.compact({}, stopping)).rejects.toThrow()
      expect(engineOf(chat).views.compactions.count).toBe(0)
    },
  )
})

describe("L4-14 a compaction that closing interrupts rejects with a ClosedError, and nothing has changed", () => {
  const never = (closing: () => void) => () => {
    closing()
    return new Promise<never>(() => undefined)
  }
  test.each<[string, (closing: () => void) => Partial<CompactingOptions>]>([
    ["while a hook runs", (closing) => ({ compaction: { hooks: hooks({ before: never(closing) }) } })],
    ["before it is installed", (closing) => ({ compaction: { hooks: hooks({ started: never(closing) }) } })],
    ["while the model writes", (closing) => ({ summariser: summariser({ window: WINDOW, onAsked: closing }) })],
  ])("%s", async (_, options) => {
    const store = memoryStore()
    let chat: Conversation | undefined
    let closed: Promise<void> | undefined
    const closing = () => {
      closed ??= chat!.close()
    }
    chat = await open({ store, ...options(closing) })
    await talk(chat)
    const before = serialiseRequest(await chat.prepare())
    await expect(chat.compact()).rejects.toThrow(ClosedError)
    await closed
    expect(serialiseRequest(await (await open({ store })).prepare())).toBe(before)
  })
})

describe("the output of hooks after a boundary", () => {
  test("L4-22, L4-27 a hook with a huge output does not fill the context again, and its output is counted", async () => {
    const words = "Hello again, and remember this. ".repeat(20_000)
    const started = async () => ({ contexts: [{ hook: "start", text: words }], messages: [] })
    const chat = await open({ compaction: { hooks: hooks({ started }) } })
    await talk(chat, 80_000)
    await chat.compact()
    const { tokens } = engineOf(chat).views.context.size()
    expect(tokens).toBeLessThan(50_000)
    const compacted = (await entriesOf(chat)).find((entry) => entry.type === "strata" && entry.subtype === "compacted")
    expect(compacted).toMatchObject({ tokensAfter: expect.closeTo(tokens, -4) })
    const request = serialiseRequest(await chat.prepare())
    expect(request).toContain("Hello again")
    expect(request).toContain("said more than there is room for")
  })
})
