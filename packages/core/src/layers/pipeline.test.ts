import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../test/open.ts"
import type { RequestSource } from "../base/enums.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import type { EntryDraft } from "../journal/entries.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { Store } from "../journal/store.ts"
import { isCompactor, type Layer, type LayerResult } from "./layer.ts"

const CLEAR: EntryDraft = { type: "strata", subtype: "tool-results-cleared", toolUseIds: ["toolu_1"], why: "size" }

const acting = (outcome: LayerResult): Layer => ({ name: "acting", beforeRequest: async () => outcome })

/** A conversation with one large result, and the reports of its layers. */
async function withResult(layers: readonly Layer[], store: Store = memoryStore()) {
  const chat = await openTestConversation({ layers, store })
  const messages: (string | undefined)[] = []
  const failures: string[] = []
  chat.on("layerActed", ({ message }) => messages.push(message))
  chat.on("layerFailed", ({ reason }) => failures.push(reason))
  await chat.add({ role: "user", content: "go" })
  await call(chat, "toolu_1")
  await chat.add({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "x ".repeat(999) }],
  })
  return { chat, messages, failures }
}

async function call(chat: Conversation, ...ids: string[]): Promise<void> {
  const content = ids.map((id) => ({ type: "tool_use", id, name: "Read", input: {} }))
  const usage = { input_tokens: 10, output_tokens: 5 }
  await chat.record({ id: `msg_${ids[0]}`, model: "claude-opus-4-6", content, stop_reason: "tool_use", usage })
}

/** A store whose journals refuse to write decisions of this kind. */
function refusing(subtype: string): Store {
  const store = memoryStore()
  return {
    ...store,
    async open(...given) {
      const journal = await store.open(...given)
      return {
        ...journal,
        async append(entries) {
          if (entries.some((entry) => "subtype" in entry && entry.subtype === subtype)) throw new Error("disk full")
          return journal.append(entries)
        },
      }
    },
  }
}

describe("an outcome", () => {
  test("what follows runs once the drafts are in the journal and the views show them", async () => {
    const seen: boolean[] = []
    const { chat } = await withResult([
      acting({
        drafts: [CLEAR],
        async journaled({ views }) {
          seen.push(views.context.isCleared("toolu_1"))
          const written = await entriesOf(chat)
          seen.push(written.some((entry) => entry.type === "strata" && entry.subtype === "tool-results-cleared"))
        },
        lost: () => seen.push(false),
      }),
    ])
    await chat.prepare()
    expect(seen).toEqual([true, true])
  })

  test("the message for the person knows what was saved", async () => {
    const { chat, messages } = await withResult([
      acting({ drafts: [CLEAR], message: ({ saved }) => (saved > 100 ? "saved" : "nothing") }),
    ])
    await chat.prepare()
    expect(messages).toEqual(["saved"])
  })

  test("what made the context larger saved nothing", async () => {
    const memory: EntryDraft = {
      type: "attachment",
      attachment: { type: "memory", path: "m", content: "x ".repeat(99) },
    }
    const { chat, messages } = await withResult([
      acting({ drafts: [memory], message: ({ saved }) => `${saved} tokens saved` }),
    ])
    await chat.prepare()
    expect(messages).toEqual(["0 tokens saved"])
  })

  test("drafts that cannot be written are lost, and the conversation goes on", async () => {
    const heard: string[] = []
    const layer = acting({
      drafts: [CLEAR],
      message: "done",
      journaled: async () => void heard.push("journaled"),
      lost: () => heard.push("lost"),
    })
    const { chat, failures, messages } = await withResult([layer], refusing("tool-results-cleared"))
    expect((await chat.prepare()).messages).toHaveLength(3)
    expect(heard).toEqual(["lost", "lost"]) // once with the other entries of the call, and once alone
    expect(failures).toEqual([expect.stringContaining("disk full")])
    expect(messages).toEqual([])
  })

  test("failures are reported, and the drafts are journaled all the same", async () => {
    const { chat, failures } = await withResult([
      acting({ drafts: [CLEAR], failures: [new Error("one"), new Error("two")] }),
    ])
    await chat.prepare()
    expect(failures).toEqual(["one", "two"])
    expect(engineOf(chat).views.context.isCleared("toolu_1")).toBe(true)
  })

  test("without drafts nothing is journaled or reported", async () => {
    const { chat, messages } = await withResult([acting({ drafts: [], message: "done" })])
    await chat.prepare()
    expect(messages).toEqual([])
  })
})

describe("a caller that gives up", () => {
  test("stops the layers that have not run yet, and nothing counts as a failure", async () => {
    const ran: string[] = []
    const caller = new AbortController()
    const layer = (name: string): Layer => ({
      name,
      async beforeRequest({ signal }) {
        ran.push(name)
        caller.abort(new Error("enough"))
        signal.throwIfAborted()
        return undefined
      },
    })
    const { chat, failures } = await withResult([layer("first"), layer("second")])
    await expect(chat.prepare({ signal: caller.signal })).rejects.toThrow("enough")
    expect(ran).toEqual(["first"])
    expect(failures).toEqual([])
  })

  test("gets the reason from a compaction that only journaled what it had cost", async () => {
    const spent: EntryDraft = {
      ...{ type: "strata", subtype: "spent", purpose: "compaction", model: "claude-opus-4-6", responseId: "msg_s" },
      usage: { input_tokens: 10, output_tokens: 5 },
    }
    const refusal = { kind: "refused", why: "too-soon", message: "Too soon." } as const
    const caller = new AbortController()
    const compactor = {
      name: "mine",
      plan: async () => refusal,
      async compact() {
        caller.abort(new Error("enough"))
        return { drafts: [spent] }
      },
    }
    const { chat } = await withResult([compactor])
    await expect(chat.compact({}, { signal: caller.signal })).rejects.toThrow("enough")
    expect(chat.ledger().byPurpose).toMatchObject([{ purpose: "main" }, { purpose: "compaction", requests: 1 }])
  })
})

describe("LOOP-9 layers decide by what the requests are for", () => {
  const NAMES = ["tool-results", "microcompact", "session-memory", "compaction", "auto-memory", "dreaming"] as const

  /** The layers that ran before the request and after its answer. */
  async function ranIn(source: RequestSource): Promise<readonly string[]> {
    const ran = new Set<string>()
    const note = (name: string) => async () => {
      ran.add(name)
      return undefined
    }
    const layers = NAMES.map((name) => ({ name, beforeRequest: note(name), afterResponse: note(name) }))
    const chat = await openTestConversation({ layers, source })
    await chat.add("go")
    await chat.prepare()
    const usage = { input_tokens: 10, output_tokens: 5 }
    await chat.record({ id: "msg_1", model: "claude-opus-4-6", content: [], stop_reason: "end_turn", usage })
    await chat.close()
    return [...ran]
  }

  test.each(["main", "agent"] as const)("LOOP-9 all of them act in a conversation for %s", async (source) => {
    expect(await ranIn(source)).toEqual(NAMES)
  })

  test.each(["notes", "compaction", "by-hand", "memory", "dream"] as const)(
    "LOOP-9 nothing compacts or takes notes in a conversation for %s",
    async (source) => {
      expect(await ranIn(source)).toEqual(["tool-results", "microcompact"])
    },
  )

  test("LOOP-9 nothing compacts there by hand either, and the journal and the ledger name the source", async () => {
    const refusal = { kind: "refused", why: "too-soon", message: "Too soon." } as const
    const compactor = { name: "compaction", plan: async () => refusal, compact: async () => ({ drafts: [] }) }
    const chat = await openTestConversation({ layers: [compactor], source: "memory" })
    await chat.add("go")
    await call(chat, "toolu_1")
    await expect(chat.compact()).rejects.toThrow()
    expect((await entriesOf(chat)).filter((entry) => "subtype" in entry && entry.subtype === "session")).toMatchObject([
      { source: "memory" },
    ])
    expect(chat.ledger().byPurpose.map(({ purpose }) => purpose)).toEqual(["memory"])
  })
})

describe("in the background", () => {
  test("a layer that decides after a rewind decides about the branch that was left", async () => {
    const waiting = Promise.withResolvers<void>()
    const layer: Layer = {
      name: "late",
      async afterQuery() {
        await waiting.promise
        return { drafts: [CLEAR] }
      },
    }
    const { chat, messages } = await withResult([layer])
    const before = engineOf(chat).views.context.newest!.uuid
    await chat.record({ content: [{ type: "text", text: "done" }] })
    await chat.rewind(before)
    const request = await chat.prepare()
    waiting.resolve()
    await chat.whenIdle()
    expect(messages).toHaveLength(1)
    const entries = await entriesOf(chat)
    const cleared = entries.find((entry) => entry.type === "strata" && entry.subtype === "tool-results-cleared")
    const answer = entries.findLast(({ type }) => type === "assistant")
    expect(cleared?.parentUuid).toBe(answer?.uuid)
    expect((await chat.prepare()).messages).toEqual(request.messages)
  })

  test("afterResponse follows every response, afterQuery only a final answer; closing waits for both", async () => {
    const ran: string[] = []
    const after = (name: string) => async () => {
      await new Promise((resolve) => setImmediate(resolve))
      ran.push(name)
      return undefined
    }
    const { chat } = await withResult([{ name: "l", afterResponse: after("response"), afterQuery: after("query") }])
    await chat.whenIdle()
    expect(ran).toEqual(["response"])
    await chat.record({ content: [{ type: "text", text: "done" }] })
    await chat.close()
    expect(ran.slice(1).toSorted()).toEqual(["query", "response"])
  })
})

test("what one layer cannot add to a request does not keep the others from adding theirs", async () => {
  const broken: Layer = {
    name: "broken",
    requestExtras() {
      throw new Error("no extras")
    },
  }
  const adding: Layer = { name: "adding", requestExtras: () => ({ betas: ["a-beta"] }) }
  const { chat, failures } = await withResult([broken, adding])
  expect(await chat.prepare()).toMatchObject({ betas: ["a-beta"] })
  expect(new Set(failures)).toEqual(new Set(["no extras"]))
})

test("L1-4 a layer gets all results of a message at once", async () => {
  const given: string[][] = []
  const layer: Layer = {
    name: "looking",
    async onToolResults(_, results) {
      given.push(results.map(({ tool_use_id }) => tool_use_id))
      return undefined
    },
  }
  const chat = await openTestConversation({ layers: [layer] })
  await chat.add({ role: "user", content: "go" })
  await call(chat, "toolu_1", "toolu_2")
  const content = ["toolu_1", "toolu_2"].map(
    (id) => ({ type: "tool_result", tool_use_id: id, content: "text" }) as const,
  )
  await chat.add({ role: "user", content })
  await chat.add({ role: "user", content: "no results here" })
  expect(given).toEqual([["toolu_1", "toolu_2"]])
})

test("a layer that compacts is found by what it can do, whatever its name", async () => {
  const refusal = { kind: "refused", why: "too-soon", message: "Too soon." } as const
  const compactor = { name: "mine", compact: async () => ({ drafts: [] }), plan: async () => refusal }
  const plain: Layer = { name: "compaction" }
  expect([compactor, plain].map(isCompactor)).toEqual([true, false])
  const chat = await openTestConversation({ layers: [plain, compactor] })
  expect(await chat.planCompaction()).toEqual(refusal)
})

test("BEY-18 work in the background is listed by its layer and can be stopped; that is no failure, and it can begin again", async () => {
  const stopped: boolean[] = []
  const slow: Layer = {
    name: "session-memory",
    afterResponse: ({ signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          stopped.push(true)
          reject(signal.reason)
        }),
      ),
  }
  const { chat, failures } = await withResult([slow])
  expect(engineOf(chat).layers.workingLayers()).toEqual(["session-memory"])
  await engineOf(chat).layers.stop("dreaming")
  expect(engineOf(chat).layers.workingLayers()).toEqual(["session-memory"])
  await engineOf(chat).layers.stop("session-memory")
  expect([engineOf(chat).layers.workingLayers(), failures, stopped]).toEqual([[], [], [true]])
  await call(chat, "toolu_2")
  expect(engineOf(chat).layers.workingLayers()).toEqual(["session-memory"])
  await chat.close()
})

test("a request does not wait for what layers do while the model answers", async () => {
  const order: string[] = []
  const layer: Layer = { name: "acting", whileAnswered: () => void order.push("while answered") }
  const { chat } = await withResult([layer])
  chat.on("prepared", () => order.push("prepared"))
  await chat.prepare()
  expect(order).toEqual(["prepared", "while answered"])
})
