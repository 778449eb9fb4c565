/** A store that fails during a call: acknowledged entries are stored once, and the conversation equals the reopened one. */
import { setImmediate } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { tappedStore } from "../../../store-contract/src/tapped-store.ts"
import { openTestConversation } from "../../test/open.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { Store } from "../journal/store.ts"
import type { Layer } from "../layers/layer.ts"
import type { Conversation } from "./conversation.ts"

type Fault = "before" | "after"

/** A store whose next calls of these names fail: either not executed, or executed with the response lost. */
function failingStore(kept: Store = memoryStore()) {
  const due = new Map<string, Fault[]>()
  const store = tappedStore(kept, async ({ name, run }) => {
    const fault = due.get(name)?.shift()
    if (fault === undefined) return run()
    if (fault === "after") await run()
    throw new Error(`${name} failed ${fault} it was made`)
  })
  return { store, kept, fail: (name: string, ...faults: Fault[]) => due.set(name, faults) }
}

const call = (id: string) => ({
  ...{ id: `msg_${id}`, model: "claude-opus-4-6", stop_reason: "tool_use" },
  content: [{ type: "tool_use", id, name: "Read", input: {} }],
  usage: { input_tokens: 10, output_tokens: 5 },
})
const result = (id: string) => [{ type: "tool_result", tool_use_id: id, content: `text of ${id}` }] as const

const texts = async (chat: Conversation) => JSON.stringify((await chat.prepare()).messages)
const count = (text: string, part: string) => text.split(part).length - 1

/** Requests of the conversation now, and after closing and reopening it. */
async function liveAndReopened(chat: Conversation, kept: Store) {
  const live = await texts(chat)
  await chat.close()
  const again = await openTestConversation({ store: kept, id: chat.id })
  const reopened = await texts(again)
  await again.close()
  return { live, reopened }
}

/** A layer that runs work once, while a call has unwritten entries. */
function during(work: () => Promise<unknown>): Layer {
  let isDone = false
  return {
    name: "acting",
    async onToolResults() {
      if (!isDone) await work()
      isDone = true
      return undefined
    },
  }
}

async function asked(chat: Conversation): Promise<void> {
  await chat.add("Read a.")
  await chat.prepare()
  await chat.record(call("t1"))
}

test("BEY-12 a message that another call could not write is not acknowledged", async () => {
  const { store, kept, fail } = failingStore()
  let chat: Conversation
  const enqueued: unknown[] = []
  const layer = during(async () => {
    fail("journal.append", "before")
    enqueued.push(await chat.enqueue("And b.").catch((error: unknown) => error))
  })
  chat = await openTestConversation({ store, layers: [layer] })
  await asked(chat)
  await expect(chat.add(result("t1"))).rejects.toThrow("journal.append failed")
  expect(enqueued[0]).toBeInstanceOf(Error)
  await chat.add(result("t1"))
  const { live, reopened } = await liveAndReopened(chat, kept)
  expect(count(live, "text of t1")).toBe(1)
  expect(reopened).toBe(live)
})

test("BEY-12 a message that another call is writing is not acknowledged before it is written", async () => {
  const kept = memoryStore()
  const writes: PromiseWithResolvers<void>[] = []
  let isSlow = false
  const store = tappedStore(kept, async ({ name, run }) => {
    if (name !== "journal.append" || !isSlow) return run()
    const write = Promise.withResolvers<void>()
    writes.push(write)
    await write.promise
    return run()
  })
  let chat: Conversation
  let enqueued: Promise<unknown> | undefined
  const layer = during(async () => {
    isSlow = true
    enqueued = chat.enqueue("And b.")
  })
  chat = await openTestConversation({ store, layers: [layer] })
  await asked(chat)
  let isAcknowledged = false
  const added = chat.add(result("t1")).then(() => {
    isAcknowledged = true
  })
  await vi.waitFor(() => expect(writes).toHaveLength(1))
  await setImmediate()
  expect(isAcknowledged).toBe(false)
  isSlow = false
  for (const write of writes) write.resolve()
  await Promise.all([added, enqueued])
  await chat.close()
})

test("BEY-12 a message that a layer's question could not write is not acknowledged", async () => {
  const { store, kept, fail } = failingStore()
  let isFirst = true
  const layer: Layer = {
    name: "acting",
    async onToolResults({ journal }) {
      if (isFirst) fail("journal.append", "before")
      isFirst = false
      await journal.find("none")
      return undefined
    },
  }
  const chat = await openTestConversation({ store, layers: [layer] })
  await asked(chat)
  await expect(chat.add(result("t1"))).rejects.toThrow("journal.append failed")
  await chat.add(result("t1"))
  const { live, reopened } = await liveAndReopened(chat, kept)
  expect(count(live, "text of t1")).toBe(1)
  expect(reopened).toBe(live)
})

test("BEY-12 a store that can neither write nor read leaves nothing in view that it does not have", async () => {
  const { store, kept, fail } = failingStore()
  const chat = await openTestConversation({ store })
  await chat.add("One.")
  fail("journal.append", "before")
  fail("journal.resume", "before", "before")
  fail("journal.findMany", "before")
  await expect(chat.add("Two.")).rejects.toThrow("failed before")
  await chat.add("Three.").catch(() => chat.add("Three."))
  const { live, reopened } = await liveAndReopened(chat, kept)
  expect(count(live, "Two.")).toBe(0)
  expect(count(live, "Three.")).toBe(1)
  expect(reopened).toBe(live)
})

const ways = {
  add: (chat: Conversation) => chat.add("Two."),
  enqueue: (chat: Conversation) => chat.enqueue("Two."),
  attach: (chat: Conversation) => chat.attach({ type: "hook_output", hook: "h", content: "Two." }),
  record: async (chat: Conversation) => {
    await chat.prepare()
    return chat.record({ ...call("t9"), content: [{ type: "text", text: "Two." }] })
  },
}

for (const [name, way] of Object.entries(ways))
  test(`BEY-12 ${name}: what was written though its answer was lost is there once, live and opened again`, async () => {
    const { store, kept, fail } = failingStore()
    const chat = await openTestConversation({ store })
    await chat.add("One.")
    if (name === "record") await chat.prepare()
    fail("journal.append", "after")
    await way(chat).catch(() => way(chat))
    await chat.add("Three.")
    const { live, reopened } = await liveAndReopened(chat, kept)
    expect(count(live, "Two.")).toBe(1)
    expect(reopened).toBe(live)
  })

for (const faults of [1, 2, 3])
  test(`BEY-12 the first request has its prompt, also after ${faults} failed writes of it`, async () => {
    const { store, kept, fail } = failingStore()
    const chat = await openTestConversation({ store })
    await chat.add("One.")
    fail("journal.append", ...Array<Fault>(faults).fill("before"))
    const request = await chat.prepare().catch(() => chat.prepare())
    expect(request.system).toBeDefined()
    const { live, reopened } = await liveAndReopened(chat, kept)
    expect(reopened).toBe(live)
  })

test("BEY-12 a layer that fails after its decision is written fails alone", async () => {
  const layer: Layer = {
    name: "acting",
    onToolResults: async () => ({
      drafts: [{ type: "strata", subtype: "thinking-dropped", why: "a test" }],
      journaled: () => Promise.reject(new Error("a callback failed")),
    }),
  }
  const store = memoryStore()
  const chat = await openTestConversation({ store, layers: [layer] })
  const failures: string[] = []
  chat.on("layerFailed", ({ reason }) => failures.push(String(reason)))
  await asked(chat)
  await chat.add(result("t1"))
  expect(failures).toEqual([expect.stringContaining("a callback failed")])
  const { live, reopened } = await liveAndReopened(chat, store)
  expect(reopened).toBe(live)
})

test("BEY-12 what follows a decision may ask the journal while a call is under way that another has written", async () => {
  let chat: Conversation
  const asks = Promise.withResolvers<void>()
  let isFollowed = false
  const asking: Layer = {
    name: "asking",
    onToolResults: async () => ({
      drafts: [{ type: "strata", subtype: "thinking-dropped", why: "a test" }],
      async journaled({ journal }) {
        await Promise.resolve()
        const found = journal.find("none")
        asks.resolve()
        await found
        isFollowed = true
      },
    }),
  }
  const enqueues = during(async () => {
    await chat.enqueue("And b.")
    await asks.promise
  })
  chat = await openTestConversation({ layers: [asking, enqueues] })
  await asked(chat)
  await chat.add(result("t1"))
  expect(isFollowed).toBe(true)
  expect(count(await texts(chat), "And b.")).toBe(1)
  await chat.close()
})
