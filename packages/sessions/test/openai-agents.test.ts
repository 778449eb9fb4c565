/** The `Session` for the OpenAI Agents SDK: its rules on files and in memory, and the SDK's own runner with a scripted model. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  OutputGuardrailTripwireTriggered,
  Runner,
  type Session,
  type StreamEvent,
  tool,
  Usage,
} from "@openai/agents-core"
import { memoryStore, type Store } from "@strata/core"
import { eraseFrom } from "@strata/core/memory"
import { decodeLine } from "@strata/core/store"
import { countedStore, faultyStore, StoreFaultError } from "@strata/store-contract"
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest"
import { z } from "zod"
import { namespaceFor } from "../../core/src/base/owner.ts"
import { externalProjectName, projectAt } from "../../core/src/base/project.ts"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import { type StrataSessionOptions, strataSession } from "../src/openai-agents.ts"

const user = (content: string): AgentInputItem => ({ type: "message", role: "user", content })
type Input = ModelRequest["input"]

const answer = (text: string): Answer => ({
  ...{ type: "message", role: "assistant", status: "completed", id: `id-${text}` },
  content: [{ type: "output_text", text }],
})

function directory(): string {
  const root = mkdtempSync(join(tmpdir(), "strata-agents-session-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

const STORES: readonly (readonly [string, () => Store])[] = [
  ["files", () => fileStore({ root: directory() })],
  ["memory", () => memoryStore()],
]

const opened = (store: Store, options: StrataSessionOptions = {}) =>
  strataSession({ store, project: "shop", sessionId: "chat-7", ...options })

describe.each(STORES)("BEY-12 a session of the OpenAI Agents SDK in %s", (_, makeStore) => {
  test("items come back as they were given, in their order, also to another process", async () => {
    const store = makeStore()
    const session = opened(store)
    const items = [user("Hi"), answer("Hello"), { type: "odd", text: "half \ud83d", sum: "00000000" }]
    await session.addItems(items.slice(0, 1))
    await session.addItems([])
    await session.addItems(items.slice(1))
    expect(await session.getItems()).toEqual(items)
    expect(await opened(store).getItems()).toEqual(items)
    expect([await session.getItems(2), await session.getItems(9), await session.getItems(0)]).toEqual([
      ...[items.slice(1), items, []],
    ])
  })

  test("what a client does with items later changes nothing", async () => {
    const session = opened(makeStore())
    const given = { type: "message", role: "user", content: "as it was" }
    const adding = session.addItems([given])
    given.content = "changed"
    await adding
    const [read] = await session.getItems<{ content: string }>()
    read!.content = "changed too"
    expect(await session.getItems()).toEqual([user("as it was")])
  })

  test("taking back and clearing are decisions: the journal keeps every item", async () => {
    const store = makeStore()
    const session = opened(store)
    await session.addItems([user("one"), user("two"), user("three")])
    expect(await session.popItem()).toEqual(user("three"))
    expect(await opened(store).popItem()).toEqual(user("two"))
    await session.addItems([user("four")])
    expect(await session.getItems()).toEqual([user("one"), user("four")])
    await session.clearSession()
    expect([await session.getItems(), await session.popItem()]).toEqual([[], undefined])
    await session.addItems([user("five")])
    expect(await opened(store).getItems()).toEqual([user("five")])
    expect(await journalOf(store)).toEqual(["one", "two", "three", "-1", "-1", "four", "-all", "five"])
  })

  test("what was erased from the store is in no session that had read it, also after another began", async () => {
    const store = makeStore()
    const session = opened(store)
    const eraseAfterReading = async () => {
      await session.addItems(["one", "two", "six"].map(user))
      expect(await session.getItems()).toHaveLength(3)
      const { before, after } = await eraseFrom(store, { subject: "message" })
      expect([before.conversations, after.conversations]).toEqual([1, 0])
    }
    await eraseAfterReading()
    expect(await session.getItems()).toEqual([])
    await eraseAfterReading()
    await opened(store).addItems(["ten", "ace", "ice", "end"].map(user)) // the same length as before
    expect(await session.getItems()).toEqual(["ten", "ace", "ice", "end"].map(user))
    expect(await session.popItem()).toEqual(user("end"))
    expect(await opened(store).getItems()).toEqual(["ten", "ace", "ice"].map(user))
  })

  test("of several who take back at once, each gets another item", async () => {
    const store = makeStore()
    await opened(store).addItems(["a", "b", "c", "d", "e"].map(user))
    const popped = await Promise.all([1, 2, 3].map(() => opened(store).popItem<{ content: string }>()))
    expect(popped.map((item) => item!.content).sort()).toEqual(["c", "d", "e"])
    expect(await opened(store).getItems()).toEqual([user("a"), user("b")])
  })

  test("a compaction takes the place of all items in one step", async () => {
    const store = makeStore()
    const session = opened(store)
    await session.addItems([user("one"), user("two")])
    await session.replaceHistoryWithCompaction([{ type: "compaction", encrypted_content: "x" }, user("two")])
    expect(await opened(store).getItems()).toEqual([{ type: "compaction", encrypted_content: "x" }, user("two")])
  })

  test("a named change is made once, and refused where its ground has changed", async () => {
    const store = makeStore()
    const session = opened(store)
    await session.addItems([user("one"), user("two")])
    const change = {
      operationId: "change-1",
      transaction: {
        type: "replace_suffix" as const,
        expectedSuffix: [{ content: "two", role: "user", type: "message" }],
        replacement: [user("2")],
      },
    }
    await session.applyHistoryTransaction(change)
    await opened(store).applyHistoryTransaction(change)
    const other = { ...change, transaction: { type: "append_items" as const, items: [user("three")] } }
    await expect(session.applyHistoryTransaction(other)).rejects.toThrow(/used for another/)
    await expect(session.applyHistoryTransaction({ ...change, operationId: "change-2" })).rejects.toThrow(/not those/)
    await expect(session.applyHistoryTransaction({ ...change, operationId: " " })).rejects.toThrow(/empty/)
    await session.applyHistoryTransaction({ ...other, operationId: "change-3" })
    await session.applyHistoryTransaction({ ...other, operationId: "change-3" })
    expect(await opened(store).getItems()).toEqual([user("one"), user("2"), user("three")])
  })

  test("sessions, projects and owners share nothing", async () => {
    const store = makeStore()
    const all: StrataSessionOptions[] = [
      {},
      { sessionId: "Chat-7" },
      { sessionId: "../chat-7" },
      { project: "other" },
      { owner: "ada" },
      { owner: "Ada" },
    ]
    for (const [at, options] of all.entries()) await opened(store, options).addItems([user(`${at}`)])
    for (const [at, options] of all.entries()) expect(await opened(store, options).getItems()).toEqual([user(`${at}`)])
  })

  test("the runner of the SDK continues with a session in another process", async () => {
    const store = makeStore()
    const asked: Input[] = []
    const model = answering(asked, [
      [{ type: "function_call", callId: "c1", name: "price", arguments: '{"item":"tea"}', status: "completed" }],
      [answer("Tea is 3.")],
      [answer("You asked about tea.")],
    ])
    const runner = new Runner({ tracingDisabled: true })
    const first = await runner.run(clerk(model), "What does tea cost?", { session: opened(store) })
    expect(first.finalOutput).toBe("Tea is 3.")
    const second = await runner.run(clerk(model), "What did I ask about?", { session: opened(store) })
    expect(second.finalOutput).toBe("You asked about tea.")
    const sent = asked[2] as AgentInputItem[]
    expect(sent.map((item) => ("role" in item ? item.role : item.type))).toEqual([
      ...["user", "function_call", "function_call_result", "assistant", "user"],
    ])
    expect(sent[0]).toMatchObject(user("What does tea cost?"))
    expect(await opened(store).getItems()).toHaveLength(6)
  })

  test("the runner streams into a session", async () => {
    const store = makeStore()
    const model = answering([], [[answer("Hello")]])
    const result = await new Runner({ tracingDisabled: true }).run(clerk(model), "Hi", {
      session: opened(store),
      stream: true,
    })
    await result.completed
    expect(await opened(store).getItems<{ role: string }>()).toMatchObject([{ role: "user" }, { role: "assistant" }])
  })

  test("an answer that a guardrail of the runner blocks is not in the session", async () => {
    const store = makeStore()
    const model = answering([], [[answer("The secret is 7.")], [answer("Fine.")]])
    const guarded = new Agent({
      ...{ name: "clerk", model },
      outputGuardrails: [
        {
          name: "secrets",
          execute: async ({ agentOutput }) => ({
            outputInfo: undefined,
            tripwireTriggered: String(agentOutput).includes("secret"),
          }),
        },
      ],
    })
    const runner = new Runner({ tracingDisabled: true })
    await expect(runner.run(guarded, "Tell me", { session: opened(store) })).rejects.toThrow(
      OutputGuardrailTripwireTriggered,
    )
    expect(JSON.stringify(await opened(store).getItems())).not.toContain("secret is 7")
    await runner.run(guarded, "Go on", { session: opened(store) })
    expect(JSON.stringify(await opened(store).getItems())).toContain("Fine.")
  })
})

test("BEY-12 a turn reads only what is new, with one call of the store", async () => {
  const from: number[] = []
  const base = memoryStore()
  const counted = countedStore({
    ...base,
    feed(place) {
      const feed = base.feed(place)
      const lines: typeof feed.lines = (id, offset) => {
        from.push(offset)
        return feed.lines(id, offset)
      }
      return { ...feed, lines }
    },
  })
  const session = opened(counted.store)
  await session.addItems(Array.from({ length: 200 }, (_, number) => user(`${number}`)))
  await session.getItems()
  await session.addItems([user("new")])
  counted.reset()
  expect(await session.getItems()).toHaveLength(201)
  expect(counted.calls()).toEqual(["feed.lines"])
  expect(from[0]).toBe(0)
  expect(from[1]).toBeGreaterThan(10_000)
})

test("BEY-12 a call whose answer is lost leaves all of its items or none", async () => {
  for (const how of ["before", "after"] as const) {
    const store = memoryStore()
    const faulty = faultyStore(store, { at: 2, how })
    const session = opened(faulty.store)
    await expect(session.addItems([user("a"), user("b")])).rejects.toThrow(StoreFaultError)
    expect(faulty.failed()).toEqual(["journal.append"])
    expect(await opened(store).getItems()).toEqual(how === "before" ? [] : [user("a"), user("b")])
  }
})

test("BEY-12 a session without an id has one, and the SDK takes it without a cast", async () => {
  const session = strataSession({ store: memoryStore(), project: "shop" })
  expectTypeOf(session).toExtend<Session>()
  const id = await session.getSessionId()
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  expect(await session.getSessionId()).toBe(id)
  expect(() => strataSession({ session: "x" } as never)).toThrow(/sessionId/)
  const shared = { ...memoryStore(), isShared: true }
  const unnamed = strataSession({ store: shared, cwd: directory(), sessionId: "x" })
  await expect(unnamed.addItems([user("a")])).rejects.toThrow(/Name it with the option "project"/)
})

type Answer = Extract<StreamEvent, { type: "response_done" }>["response"]["output"][number]

/** A model that returns these responses one after the other. */
function answering(asked: Input[], answers: readonly Answer[][]): Model {
  let next = 0
  const responded = ({ input }: ModelRequest) => {
    asked.push(structuredClone(input))
    return { output: answers[next++] ?? [], id: `response-${next}` }
  }
  return {
    async getResponse(request) {
      const { output, id } = responded(request)
      return { usage: new Usage(), output, responseId: id }
    },
    async *getStreamedResponse(request) {
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
      yield { type: "response_done", response: { ...responded(request), usage } }
    },
  }
}

const clerk = (model: Model) =>
  new Agent({
    ...{ name: "clerk", instructions: "You sell tea.", model },
    tools: [
      tool({
        ...{ name: "price", description: "The price of an item", parameters: z.object({ item: z.string() }) },
        execute: async ({ item }) => `${item}: 3`,
      }),
    ],
  })

/** Each entry in short form: the text of an item, or the number of removed items. */
async function journalOf(store: Store): Promise<readonly string[]> {
  const { name } = await projectAt({ cwd: "/", project: "shop", env: {} })
  const project = namespaceFor(externalProjectName("openai-agents", name), undefined)
  const short: string[] = []
  for await (const { bytes } of store.feed({ project }).lines("chat-7", 0)) {
    const decoded = decodeLine(bytes)
    if (decoded.state === "damaged" || decoded.entry.type !== "strata") continue
    const { entry } = decoded
    if (entry.subtype === "foreign-line") short.push((entry.line as { content: string }).content)
    if (entry.subtype === "foreign-change") short.push(`-${entry.removed === "all" ? "all" : entry.removed.length}`)
  }
  return short
}
