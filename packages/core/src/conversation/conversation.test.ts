import { InMemoryProvider, OpenFeature } from "@openfeature/server-sdk"
import { describe, expect, test } from "vitest"
import { sketch } from "../../test/builders.ts"
import { temporaryRoot } from "../../test/journal-files.ts"
import { entriesOf, openTestConversation } from "../../test/open.ts"
import { manualClock } from "../base/clock.ts"
import {
  ClosedError,
  ContextFullError,
  ConversationLockedError,
  ConversationNotFoundError,
  EmptyConversationError,
  InvalidContentError,
  JournalWriteError,
  MessageNotFoundError,
} from "../base/errors.ts"
import type { EntryDraft } from "../journal/entries.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { Journal, Store } from "../journal/store.ts"
import type { Layer } from "../layers/layer.ts"
import type { FlatMessage } from "../messages/flatten.ts"
import { handleOf } from "../messages/media.ts"
import { serialiseRequest } from "../views/context/request.ts"
import { type Conversation, engineOf } from "./conversation.ts"

let responses = 0
const answer = (text: string, more: { stop_reason?: string | null; id?: string } = {}) => ({
  id: `msg_${responses++}`,
  model: "claude-opus-4-6",
  content: [{ type: "text", text }] as unknown[],
  stop_reason: "end_turn" as string | null,
  usage: { input_tokens: 10, output_tokens: 5 },
  ...more,
})
const toolCall = (id: string) => ({
  ...answer(""),
  content: [{ type: "tool_use", id, name: "Read", input: { file_path: "/a" } }],
  stop_reason: "tool_use",
})
const result = (id: string, content = "text") =>
  [{ type: "tool_result", tool_use_id: id, content }] as const satisfies readonly object[]

const say = (chat: Conversation, content: string) => chat.add({ role: "user", content })
const sent = async (chat: Conversation) => sketch((await chat.prepare()).messages as readonly FlatMessage[])

/** A layer that returns these drafts before the next request. */
function actingOnce(...drafts: EntryDraft[]): Layer {
  return { name: "acting", beforeRequest: async () => ({ drafts: drafts.splice(0) }) }
}
const BOUNDARY: EntryDraft = {
  type: "system",
  subtype: "compact_boundary",
  compactMetadata: { trigger: "auto", preTokens: 1 },
}
const SUMMARY: EntryDraft = { type: "user", isCompactSummary: true, message: { role: "user", content: "Summary." } }

describe("LOOP-1 add, prepare, record", () => {
  test("a turn: messages go out, what came back goes in, and the next request has both", async () => {
    const chat = await openTestConversation({ system: "You help." })
    await say(chat, "hi")
    expect(await chat.prepare()).toEqual({
      model: "claude-opus-4-6",
      max_tokens: 32_000,
      system: "You help.",
      messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
    })
    await chat.record(toolCall("toolu_1"))
    await chat.add({ role: "user", content: result("toolu_1") })
    await chat.attach({ type: "hook_output", hook: "lint", content: "clean" })
    expect(await sent(chat)).toEqual([
      'user: "hi"',
      "assistant: call toolu_1 Read",
      'user: result toolu_1 "text" | "<system-reminder>\\nOutput of the hook \\"lint\\":\\nclean\\n</system-reminder>"',
    ])
  })

  test("every entry has its place: uuid, parent, time, conversation", async () => {
    const clock = manualClock("2026-03-01T10:00:00.000Z")
    const chat = await openTestConversation({ clock })
    const first = await say(chat, "one")
    clock.advance(60_000)
    const second = await chat.record(answer("two"))
    const messages = (await entriesOf(chat)).filter(({ type }) => type !== "strata")
    expect(messages).toMatchObject([
      { uuid: first, parentUuid: null, timestamp: "2026-03-01T10:00:00.000Z", sessionId: "test" },
      { uuid: second, parentUuid: first, timestamp: "2026-03-01T10:01:00.000Z", sessionId: "test" },
    ])
  })

  test("where the assistant spoke last, it is asked to go on, and that is in the journal", async () => {
    const chat = await openTestConversation()
    await say(chat, "hi")
    await chat.record(answer("ho", { stop_reason: "max_tokens" }))
    const request = ['user: "hi"', 'assistant: "ho"', 'user: "Continue from where you left off."']
    expect(await sent(chat)).toEqual(request)
    expect(await sent(chat)).toEqual(request)
    expect(engineOf(chat).views.words.messages.map(({ text }) => text)).toEqual(["hi"])
  })

  test("MSG-4 a call without a result is answered, recorded once, and reported", async () => {
    const chat = await openTestConversation()
    const events: unknown[] = []
    chat.on("repaired", ({ repairs }) => events.push(repairs))
    await say(chat, "go")
    await chat.record(toolCall("toolu_1"))
    await say(chat, "never mind")
    await chat.prepare()
    await chat.prepare()
    expect(events).toEqual([[{ rule: "unanswered-tool-use", id: "toolu_1" }]])
  })

  test("calls that are made at once are carried out in their order", async () => {
    const chat = await openTestConversation()
    const uuids = await Promise.all([
      say(chat, "0"),
      chat.record(answer("1")),
      say(chat, "2"),
      chat.attach({ type: "memory", path: "m", content: "3" }),
      ...Array.from({ length: 20 }, (_, i) => say(chat, String(i + 4))),
    ])
    const messages = (await entriesOf(chat)).filter(({ type }) => type !== "strata")
    expect(messages.map(({ uuid }) => uuid)).toEqual(uuids)
    expect(messages.map(({ parentUuid }) => parentUuid)).toEqual([null, ...uuids.slice(0, -1)])
  })

  test("a call that fails does not hold up later ones", async () => {
    const chat = await openTestConversation()
    const [bad, good] = await Promise.allSettled([say(chat, ""), say(chat, "fine")])
    expect([bad.status, good.status]).toEqual(["rejected", "fulfilled"])
    expect(await sent(chat)).toEqual(['user: "fine"'])
  })
})

describe("events", () => {
  test("tell of every entry, of the request with its size, and of the response with its cost", async () => {
    const chat = await openTestConversation()
    const events: string[] = []
    chat.on("entry", ({ entry }) => events.push(`entry ${"subtype" in entry ? entry.subtype : entry.type}`))
    chat.on("prepared", ({ size, fill, request }) => {
      events.push(`prepared ${request.messages.length} ${size.counted} ${fill.state}`)
    })
    chat.on("recorded", ({ counts, cost, stopReason }) => {
      events.push(`recorded ${counts?.input} ${cost.known && cost.dollars} ${stopReason}`)
    })
    const stop = chat.on("entry", () => events.push("never"))
    stop()
    await say(chat, "hi")
    await chat.prepare()
    await chat.record(answer("ho"))
    expect(events).toEqual([
      "entry user",
      "entry session",
      "entry prompt-rendered",
      "entry session",
      "prepared 1 0 fine",
      "entry assistant",
      `recorded 10 ${(10 * 5 + 5 * 25) / 1_000_000} end_turn`,
    ])
  })

  test("TOK-7 the price of an unknown model is unknown, and a response may lack its usage", async () => {
    const chat = await openTestConversation()
    const costs: unknown[] = []
    chat.on("recorded", ({ cost }) => costs.push(cost))
    await say(chat, "hi")
    await chat.record({ ...answer("a"), model: "someone-else" })
    await chat.record({ ...answer("b"), usage: undefined as never })
    expect(costs).toEqual([
      { known: false, why: "the price of someone-else is unknown" },
      { known: false, why: "no usage was reported" },
    ])
  })

  test("reports what opening found: a new one, then a resumed one", async () => {
    const store = memoryStore()
    const chat = await openTestConversation({ store })
    expect(chat.openResult).toMatchObject({ created: true, resumed: false })
    await say(chat, "hi")
    await chat.close()
    expect((await openTestConversation({ store })).openResult).toMatchObject({ created: false, resumed: true })
  })
})

/** An in-memory store whose journals use this flush. */
function storeThatFlushes(sync: () => Promise<void>): Store {
  const memory = memoryStore()
  return {
    ...memory,
    open: async (address, options) => ({ ...(await memory.open(address, options)), sync, flushesItself: false }),
  }
}

function throwNext(failures: Error[]): void {
  const failure = failures.pop()
  if (failure) throw failure
}

describe("errors leave the conversation as it was", () => {
  test.each<[string, unknown, RegExp]>([
    ["an empty text", "", /it is empty/],
    ["white space", " \n", /it is empty/],
    ["no blocks", [], /its content must be a text or a list of blocks/],
    ["no content", undefined, /its content must be a text or a list of blocks/],
    ["an object", { type: "text" }, /its content must be a text or a list of blocks/],
    ["a block without a type", [{ type: "text", text: "a" }, { text: "b" }], /block 1 of its content has no type/],
    ["no block at all", [null], /block 0 of its content has no type/],
  ])("MSG-12 bad content: %s", async (_name, content, why) => {
    const chat = await openTestConversation()
    const adding = chat.add({ role: "user", content: content as never })
    await expect(adding).rejects.toThrow(InvalidContentError)
    await expect(adding).rejects.toThrow(why)
    expect(await entriesOf(chat)).toEqual([])
  })

  test("MSG-12 a message of another role cannot be added, and a response without content cannot be recorded", async () => {
    const chat = await openTestConversation()
    await expect(chat.add({ role: "tool" as "user", content: "x" })).rejects.toThrow(/role "tool". Use "user" or/)
    await expect(chat.record({ ...answer("x"), content: 5 as never })).rejects.toThrow(InvalidContentError)
    expect(await entriesOf(chat)).toEqual([])
  })

  test("there is nothing to send", async () => {
    const chat = await openTestConversation()
    await expect(chat.prepare()).rejects.toThrow(EmptyConversationError)
    await say(chat, "hi")
    expect(await sent(chat)).toEqual(['user: "hi"'])
  })

  test("WIN-4 the context is full: nothing is sent, everything is kept, and going back helps", async () => {
    const settings = { models: { "claude-opus-4-6": { window: 2_000 } }, autoCompactEnabled: false }
    const chat = await openTestConversation({ settings, title: "t" })
    const first = await say(chat, "short")
    await say(chat, "longer ".repeat(500))
    const long = await say(chat, "long ".repeat(500))
    const error = (await chat.prepare().catch((thrown: unknown) => thrown)) as ContextFullError
    expect(error).toBeInstanceOf(ContextFullError)
    expect(error).toMatchObject({ used: chat.windowUsage().used, limit: chat.thresholds.blocking })
    expect(chat.windowUsage()).toMatchObject({ percentLeft: 0, state: "blocked" })
    expect(error.used).toBeGreaterThan(error.limit)
    expect(await chat.recall(`${long}.0`)).toEqual({ type: "text", text: "long ".repeat(500) })
    await chat.rewind(first)
    expect(await sent(chat)).toEqual(['user: "short"'])
  })

  test("WIN-4 a message that no request can carry is refused before it is written, so the next one is sent", async () => {
    const settings = { models: { "claude-opus-4-6": { window: 2_000 } } }
    const chat = await openTestConversation({ settings })
    await expect(say(chat, "long ".repeat(5_000))).rejects.toThrow(/has room for \d+\. Write it to a file/)
    await expect(chat.enqueue("long ".repeat(5_000))).rejects.toThrow(InvalidContentError)
    expect(await entriesOf(chat)).toEqual([])
    await say(chat, "short")
    expect(await sent(chat)).toEqual(['user: "short"'])
  })

  test("a conversation that is closed takes nothing more, and closing again is nothing", async () => {
    const chat = await openTestConversation()
    await say(chat, "hi")
    await Promise.all([chat.close(), chat.close()])
    await chat.close()
    await expect(say(chat, "more")).rejects.toThrow(ClosedError)
    await expect(chat.prepare()).rejects.toThrow(ClosedError)
    await expect(chat.record(answer("x"))).rejects.toThrow(ClosedError)
    await expect(chat.rewind("x")).rejects.toThrow(ClosedError)
  })

  test("what was called before closing is still carried out", async () => {
    const store = memoryStore()
    const chat = await openTestConversation({ store })
    const adding = say(chat, "just in time")
    await chat.close()
    await adding
    expect(await sent(await openTestConversation({ store }))).toEqual(['user: "just in time"'])
  })

  test.each(["rewind", "branch"] as const)("%s: a message that is not there", async (what) => {
    const chat = await openTestConversation()
    await say(chat, "hi")
    await chat.prepare()
    const before = await entriesOf(chat)
    const decision = before.find(({ type }) => type === "strata")!.uuid
    for (const uuid of ["00000000-0000-8000-8000-000000000000", "", decision]) {
      await expect(chat[what](uuid)).rejects.toThrow(MessageNotFoundError)
    }
    expect(await entriesOf(chat)).toEqual(before)
  })

  test("JRN-3 a conversation that is open elsewhere, and one that is not there", async () => {
    const store = memoryStore()
    await openTestConversation({ store })
    const second = openTestConversation({ store })
    await expect(second).rejects.toThrow(ConversationLockedError)
    await expect(second).rejects.toThrow(/is already open in this process on .*Close it there, then open it again\.$/)
    await expect(openTestConversation({ store, id: "other", mustExist: true })).rejects.toThrow(
      ConversationNotFoundError,
    )
  })

  test("a write that fails: nothing of it is in the views, and the next one works", async () => {
    const { store, failNext } = failingStore("append")
    const chat = await openTestConversation({ store })
    await say(chat, "one")
    failNext()
    await expect(say(chat, "two")).rejects.toThrow(JournalWriteError)
    await say(chat, "three")
    expect(await sent(chat)).toEqual(['user: "one" | "three"'])
    expect(engineOf(chat).views.words.messages.map(({ text }) => text)).toEqual(["one", "three"])
  })

  test("JRN-3 the disk works while the views follow a response; record() waits for it and reports its failure", async () => {
    const { promise: flushed, reject } = Promise.withResolvers<void>()
    const order: string[] = []
    const store = storeThatFlushes(() => {
      order.push("flush")
      return flushed
    })
    const chat = await openTestConversation({ store })
    await say(chat, "one")
    chat.on("entry", () => order.push("in the views"))
    const recording = chat.record(answer("two")).then(
      () => order.push("recorded"),
      (error: Error) => order.push(error.message),
    )
    while (!order.includes("in the views")) await Promise.resolve()
    expect(order.slice(0, 2)).toEqual(["flush", "in the views"])
    expect(order).not.toContain("recorded")
    reject(new Error("no space left"))
    await recording
    expect(order.at(-1)).toBe("no space left")
  })

  test("JRN-3 a failed flush that the disk reports only once fails record()", async () => {
    const failures = [new Error("no space left")]
    const chat = await openTestConversation({ store: storeThatFlushes(async () => throwNext(failures)) })
    await expect(chat.record(answer("two"))).rejects.toThrow("no space left")
    await expect(chat.record(answer("three"))).resolves.toBeDefined()
  })

  test("JRN-3 prepare() does not wait for the disk: record() does, for both; with `durable` it waits itself", async () => {
    const waits: PromiseWithResolvers<void>[] = []
    const store = storeThatFlushes(() => {
      waits.push(Promise.withResolvers<void>())
      return waits.at(-1)!.promise
    })
    const chat = await openTestConversation({ store })
    await say(chat, "one")
    await chat.prepare()
    expect(waits).toHaveLength(1) // begun
    const order: string[] = []
    const recording = chat.record(answer("two")).then(() => order.push("recorded"))
    while (waits.length < 2) await Promise.resolve()
    for (const wait of waits.slice(1)) wait.resolve()
    await new Promise(setImmediate)
    expect(order).toEqual([]) // the previous message is not on disk yet
    waits[0]!.resolve()
    await recording

    await say(chat, "three")
    const preparing = chat.prepare({ durable: true }).then(() => order.push("prepared"))
    while (waits.length < 3) await new Promise(setImmediate)
    expect(order).toEqual(["recorded"])
    for (const wait of waits) wait.resolve()
    await preparing
    expect(order).toEqual(["recorded", "prepared"])
  })

  test("JRN-3 a flush that fails after prepare(), and that the disk reports only once, fails record(), also where no request could be built", async () => {
    const failures: Error[] = []
    const store = storeThatFlushes(async () => throwNext(failures))
    const broken: Layer = { name: "broken", requestExtras: () => ({ context_management: { edits: [null] } }) }
    const chat = await openTestConversation({ store, layers: [broken] })
    await say(chat, "one")
    failures.push(new Error("no space left"))
    await expect(chat.prepare()).rejects.toThrow(TypeError)
    await expect(chat.record(answer("two"))).rejects.toThrow("no space left")
    await expect(chat.record(answer("two"))).resolves.toBeDefined()
  })

  test("JRN-4 a checkpoint that cannot be written costs a longer resume and nothing else", async () => {
    const { store, failNext } = failingStore("writeCheckpoint")
    const chat = await openTestConversation({ store, layers: [actingOnce(BOUNDARY, SUMMARY)] })
    await say(chat, "before")
    failNext()
    const failures: unknown[] = []
    chat.on("layerFailed", (failure) => failures.push(failure))
    expect(await sent(chat)).toEqual(['user: "Summary."'])
    expect(failures).toEqual([])
    await chat.close()
    const again = await openTestConversation({ store })
    expect(again.openResult.read).toBe("all")
    expect(await sent(again)).toEqual(['user: "Summary."'])
  })
})

describe("layers", () => {
  const failing = (moment: keyof Layer, work: () => never): Layer => ({ name: `failing ${moment}`, [moment]: work })
  const boom = () => {
    throw new Error("boom")
  }

  test.each(["onToolResults", "beforeRequest", "afterResponse", "afterQuery"] as const)(
    "one that fails in %s is reported, and neither the conversation nor other layers suffer",
    async (moment) => {
      const other: string[] = []
      const noting: Layer = {
        name: "noting",
        onToolResults: async (_, [given]) => {
          other.push(`onToolResults ${given!.tool_use_id}`)
          return undefined
        },
        beforeRequest: async () => {
          other.push("beforeRequest")
          return undefined
        },
        afterResponse: async () => {
          other.push("afterResponse")
          return undefined
        },
        afterQuery: async () => {
          other.push("afterQuery")
          return undefined
        },
      }
      const chat = await openTestConversation({ layers: [failing(moment, boom), noting] })
      const failures: unknown[] = []
      chat.on("layerFailed", (failure) => failures.push(failure))
      await say(chat, "go")
      await chat.record(toolCall("toolu_1"))
      await chat.add({ role: "user", content: result("toolu_1") })
      expect(await sent(chat)).toHaveLength(3)
      await chat.record(answer("done"))
      await new Promise((resolve) => setImmediate(resolve)) // background work is done
      expect(failures.length).toBeGreaterThan(0)
      for (const failure of failures) expect(failure).toEqual({ layer: `failing ${moment}`, reason: "boom" })
      expect(other).toEqual(["afterResponse", "onToolResults toolu_1", "beforeRequest", "afterResponse", "afterQuery"])
    },
  )

  test("what a layer decides is journaled and shown, in the order of the layers", async () => {
    const seen: number[] = []
    const looking: Layer = {
      name: "looking",
      beforeRequest: async ({ views }) => {
        seen.push(views.context.storedMessages().length)
        return undefined
      },
    }
    const chat = await openTestConversation({ layers: [looking, actingOnce(BOUNDARY, SUMMARY), looking] })
    await say(chat, "one")
    await say(chat, "two")
    expect(await sent(chat)).toEqual(['user: "Summary."'])
    expect(seen).toEqual([2, 1])
  })

  test("FLG-1 a flag that is turned mid-conversation changes no decision that was made", async () => {
    const provider = new InMemoryProvider()
    const turn = (variant: "on" | "off") =>
      provider.putConfiguration({
        "clear-by-size": { variants: { on: true, off: false }, defaultVariant: variant, disabled: false },
      })
    await OpenFeature.setProviderAndWait("conversation-test", provider)
    const clear: EntryDraft = { type: "strata", subtype: "tool-results-cleared", toolUseIds: ["toolu_1"], why: "size" }
    const asking: Layer = {
      name: "asking",
      beforeRequest: async ({ flags }) => (flags.on["clear-by-size"] ? { drafts: [clear] } : undefined),
    }
    const chat = await openTestConversation({ layers: [asking], flags: OpenFeature.getClient("conversation-test") })
    await say(chat, "go")
    await chat.record(toolCall("toolu_1"))
    await chat.add({ role: "user", content: result("toolu_1") })
    await turn("on")
    const body = serialiseRequest(await chat.prepare())
    expect(body).toContain("[Old tool result content cleared]")
    await turn("off")
    expect(serialiseRequest(await chat.prepare())).toBe(body)
    await OpenFeature.close()
  })

  test("FLG-3 none runs while everything is off", async () => {
    const chat = await openTestConversation({
      layers: [failing("beforeRequest", boom), failing("afterResponse", boom)],
      settings: { off: true },
    })
    const failures: unknown[] = []
    chat.on("layerFailed", (failure) => failures.push(failure))
    await say(chat, "go")
    await chat.prepare()
    await chat.record(answer("done"))
    await new Promise((resolve) => setImmediate(resolve))
    expect(failures).toEqual([])
  })
})

describe("JRN-5 rewind", () => {
  test("goes on from an earlier message; what came after it stays in the journal", async () => {
    const chat = await openTestConversation()
    const first = await say(chat, "one")
    const left = await chat.record(answer("left behind"))
    await say(chat, "two")
    await chat.rewind(first)
    await chat.record(answer("instead"))
    expect(await sent(chat)).toEqual([
      'user: "one"',
      'assistant: "instead"',
      'user: "Continue from where you left off."',
    ])
    expect(await chat.recall(`${left}.0`)).toEqual({ type: "text", text: "left behind" })
  })

  test("prepares the bytes that were prepared at that message", async () => {
    const chat = await openTestConversation({ context: { Notes: "n" } })
    await say(chat, "one")
    await chat.prepare()
    await chat.record(answer("1"))
    const second = await say(chat, "two")
    const body = serialiseRequest(await chat.prepare())
    await chat.record(answer("2"))
    await say(chat, "three")
    await chat.prepare()
    await chat.rewind(second)
    expect(serialiseRequest(await chat.prepare())).toBe(body)
  })

  test("also from before a boundary, and back to after it, and the same after a resume", async () => {
    const store = memoryStore()
    const chat = await openTestConversation({ store, layers: [actingOnce(BOUNDARY, SUMMARY)] })
    const before = await say(chat, "before")
    await chat.prepare()
    const after = await say(chat, "after")
    expect(await sent(chat)).toEqual(['user: "Summary." | "after"'])
    await chat.rewind(before)
    expect(await sent(chat)).toEqual(['user: "before"'])
    await chat.rewind(after)
    expect(await sent(chat)).toEqual(['user: "Summary." | "after"'])
    await chat.rewind(before)
    await say(chat, "instead")
    await chat.close()
    expect(await sent(await openTestConversation({ store }))).toEqual(['user: "before" | "instead"'])
  })
})

describe("JRN-5 branch", () => {
  test("copies the way to a message into a conversation of its own; the original stays", async () => {
    const store = memoryStore()
    const chat = await openTestConversation({ store })
    await say(chat, "one")
    await chat.prepare()
    const middle = await chat.record(answer("1"))
    await say(chat, "two")
    const original = await entriesOf(chat)

    expect(await chat.branch(middle, "side")).toBe("side")
    expect(await entriesOf(chat)).toEqual(original)
    const side = await openTestConversation({ store, id: "side", mustExist: true })
    expect((await entriesOf(side)).at(-1)).toMatchObject({
      subtype: "branched",
      parentUuid: middle,
      from: { conversation: "test", uuid: middle },
    })
    await say(side, "another way")
    expect(await sent(side)).toEqual(['user: "one"', 'assistant: "1"', 'user: "another way"'])
    expect(await sent(chat)).toEqual(['user: "one"', 'assistant: "1"', 'user: "two"'])
  })

  test("also from before a boundary, with the decisions along the way", async () => {
    const store = memoryStore()
    const clear: EntryDraft = { type: "strata", subtype: "tool-results-cleared", toolUseIds: ["toolu_1"], why: "size" }
    const chat = await openTestConversation({ store, layers: [actingOnce(clear), actingOnce(BOUNDARY, SUMMARY)] })
    await say(chat, "go")
    await chat.record(toolCall("toolu_1"))
    const before = await chat.add({ role: "user", content: result("toolu_1") })
    await chat.prepare()
    await chat.branch(before, "side")
    const side = await openTestConversation({ store, id: "side" })
    expect((await sent(side))[2]).toContain("[Old tool result content cleared]")
    expect(await sent(chat)).toEqual(['user: "Summary."'])
  })

  test("on disk, with an id of its own where none is given", async () => {
    const { root, remove } = await temporaryRoot()
    const store = fileStore({ root, flush: "never" })
    const chat = await openTestConversation({ store })
    const first = await say(chat, "one")
    const id = await chat.branch(first)
    const side = await openTestConversation({ store, id, mustExist: true })
    expect(await sent(side)).toEqual(['user: "one"'])
    await Promise.all([chat.close(), side.close()])
    await remove()
  })

  test("a branch cannot take the place of the conversation itself", async () => {
    const chat = await openTestConversation()
    const first = await say(chat, "one")
    await expect(chat.branch(first, "test")).rejects.toThrow(ConversationLockedError)
    expect(await sent(chat)).toEqual(['user: "one"'])
  })
})

describe("BEY-1 recall", () => {
  test("gives any block by its address, also inside a result; nothing for what is no address", async () => {
    const chat = await openTestConversation()
    await say(chat, "go")
    await chat.record(toolCall("toolu_1"))
    const inner = { type: "text" as const, text: "inner" }
    const uuid = await chat.add({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [inner] }],
    })
    expect(await chat.recall(`${uuid}.0.0`)).toEqual(inner)
    for (const address of ["", "nonsense", `${uuid}.7`, `${uuid}.0.7`, "00000000-0000-8000-8000-000000000000.0"]) {
      expect(await chat.recall(address)).toBeUndefined()
    }
  })

  test.each(["files", "memory"])("takes short handles of blocks and of messages, with a store of %s", async (kind) => {
    const { root, remove } = await temporaryRoot()
    const chat = await openTestConversation({ store: kind === "files" ? fileStore({ root }) : memoryStore() })
    const uuid = await chat.add({
      role: "user",
      content: [
        { type: "text", text: "one" },
        { type: "text", text: "two" },
      ],
    })
    expect(await chat.recall(handleOf(uuid, 1))).toEqual({ type: "text", text: "two" })
    for (const handle of [handleOf(uuid), uuid])
      expect(await chat.recall(handle)).toMatchObject({ type: "user", uuid, message: { content: { length: 2 } } })
    expect(await chat.recall(handleOf(uuid, 2))).toBeUndefined()
    expect(await chat.recall("0123456789")).toBeUndefined()
    await chat.close()
    await remove()
  })
})

/** An in-memory store whose journals fail once, at a chosen operation. */
function failingStore(what: "append" | "writeCheckpoint"): { store: Store; failNext(): void } {
  const store = memoryStore()
  let failing = false
  const failOnce = async (journal: Journal) => {
    if (!failing) return
    failing = false
    throw new JournalWriteError(journal.location, Object.assign(new Error("no space left"), { code: "ENOSPC" }))
  }
  return {
    failNext: () => {
      failing = true
    },
    store: {
      ...store,
      async open(address, options) {
        const journal = await store.open(address, options)
        const whole = journal[what].bind(journal) as (value: never) => Promise<void>
        return {
          ...journal,
          [what]: async (value: never) => {
            await failOnce(journal)
            await whole(value)
          },
        }
      },
    },
  }
}
