/** The data that the saver stores, the calls of the port that it makes, and failures of calls or concurrent writers. */
import { appendFileSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AIMessage, HumanMessage } from "@langchain/core/messages"
import { type Checkpoint, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import { memoryStore } from "@strata/core"
import { countedStore, faultyStore } from "@strata/store-contract"
import { describe, expect, onTestFinished, test } from "vitest"
import { namespaceFor } from "../../../core/src/base/owner.ts"
import { externalProjectName } from "../../../core/src/base/project.ts"
import { fileStore } from "../../../core/src/journal/file/file-store.ts"
import { isWhole } from "../../../core/test/size.ts"
import { type StrataSaver, strataSaver } from "../../src/langgraph.ts"

const CONFIG = { configurable: { thread_id: "chat-7", checkpoint_ns: "" } }
const PLACE = namespaceFor(externalProjectName("langgraph", "langgraph"), undefined)
const METADATA = { source: "loop", step: 1, parents: {} } as const

const checkpoint = (number: number, values: Record<string, unknown>): Checkpoint => ({
  ...emptyCheckpoint(),
  id: uuid6(number),
  channel_values: values,
})

const message = (number: number) =>
  number % 2 === 0
    ? new HumanMessage(`question ${number} ${"q".repeat(400)}`)
    : new AIMessage(`answer ${number} ${"a".repeat(400)}`)

function directory(): string {
  const root = mkdtempSync(join(tmpdir(), "strata-langgraph-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

const journalIn = (root: string): string => join(root, globSync("**/*.jsonl", { cwd: root })[0]!)

const put = (saver: StrataSaver, number: number, values: Record<string, unknown>) =>
  saver.put(CONFIG, checkpoint(number, values), METADATA, {})

const valuesOf = async (saver: StrataSaver, config = CONFIG) =>
  (await saver.getTuple(config))?.checkpoint.channel_values

async function gathered<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const idsOf = async (saver: StrataSaver) => (await gathered(saver.list(CONFIG))).map((tuple) => tuple.checkpoint.id)

test.runIf(isWhole)("BEY-12: a step of a long thread takes as many bytes as one of a short thread", async () => {
  const root = directory()
  const saver = strataSaver({ store: fileStore({ root, flush: "never" }) })
  const messages: unknown[] = []
  const grown: number[] = []
  for (let number = 0; number < 400; number++) {
    messages.push(message(number))
    const before = number === 0 ? 0 : statSync(journalIn(root)).size
    await put(saver, number, { messages: [...messages] })
    grown.push(statSync(journalIn(root)).size - before)
  }
  await saver.close()
  expect(Math.max(...grown.slice(300))).toBeLessThan(1.1 * Math.max(...grown.slice(10, 30)))
  expect(await valuesOf(strataSaver({ store: fileStore({ root }) }))).toEqual({ messages })
})

test("BEY-12: reading the newest checkpoint opens the journal and reads once; each later step is one call", async () => {
  const store = memoryStore()
  const writer = strataSaver({ store })
  for (let number = 0; number < 20; number++) await put(writer, number, { messages: [message(number)] })
  await writer.close()
  const files = {
    ...store,
    open: async (...given: Parameters<typeof store.open>) => ({
      ...(await store.open(...given)),
      preloaded: undefined,
    }),
  }
  for (const [name, each, calls] of [
    ["gives the tail when it is opened", { ...store }, ["open", "journal.close"]],
    ["gives it when it is asked for", files as unknown as typeof store, ["open", "journal.resume", "journal.close"]],
  ] as const) {
    const counted = countedStore(each)
    const saver = strataSaver({ store: counted.store })
    await saver.getTuple(CONFIG)
    expect(counted.calls(), name).toEqual(calls)
  }
  const counted = countedStore({ ...store })
  const saver = strataSaver({ store: counted.store })
  await put(saver, 30, { messages: [message(30)] })
  counted.reset()
  await put(saver, 31, { messages: [message(31)] })
  await saver.getTuple(CONFIG)
  expect(counted.calls()).toEqual(["journal.append"])
  await saver.close()
})

test("BEY-12: what a program changes in place is kept", async () => {
  const store = memoryStore()
  const saver = strataSaver({ store })
  const messages = [message(0), message(1)]
  await put(saver, 1, { messages })
  messages[0]!.content = "changed ".repeat(30)
  await put(saver, 2, { messages })
  const kept = (await valuesOf(saver))?.messages as typeof messages
  expect(kept.map(({ content }) => content)).toEqual(messages.map(({ content }) => content))
})

test("BEY-12: a state that forgets is read without what it forgot, and the past stays", async () => {
  const store = memoryStore()
  const saver = strataSaver({ store })
  const large = (number: number) => `${number} ${"x".repeat(50_000)}`
  for (let number = 0; number < 60; number++) await put(saver, number, { scratch: large(number) })
  await saver.close()
  const [listing] = await store.list(PLACE, { isBare: true })
  const journal = await store.open({ project: PLACE, id: listing!.id }, { access: "read" })
  expect(JSON.stringify((await journal.tail()).entries).length).toBeLessThan(600_000) // of three million
  const other = strataSaver({ store: { ...store } })
  const old = { configurable: { ...CONFIG.configurable, checkpoint_id: uuid6(3) } }
  const ids = await idsOf(other)
  expect(ids).toHaveLength(60)
  expect(ids).toEqual(ids.toSorted().toReversed())
  expect(await valuesOf(other)).toEqual({ scratch: large(59) })
  expect(await other.getTuple(old)).toBeUndefined() // no checkpoint has this id: each call of uuid6 creates another
  const third = { configurable: { ...CONFIG.configurable, checkpoint_id: ids.at(-4)! } }
  expect(await valuesOf(other, third)).toEqual({ scratch: large(3) })
})

describe("BEY-12: an answer that is lost", () => {
  test("is not repeated twice, whichever call it was", async () => {
    for (let at = 1; ; at++) {
      for (const how of ["before", "after"] as const) {
        const store = memoryStore()
        const faulty = faultyStore(store, { at, how })
        const saver = strataSaver({ store: faulty.store })
        const steps = [1, 2].map((number) => checkpoint(number, { messages: [message(number)] }))
        for (const step of steps) {
          const once = () => saver.put(CONFIG, step, METADATA, {})
          const config = await once().catch(once)
          const writes = () => saver.putWrites(config, [["messages", ["w".repeat(200)]]], "task")
          await writes().catch(writes)
        }
        await saver.close().catch(() => undefined)
        const other = strataSaver({ store: { ...store } })
        expect(await idsOf(other)).toEqual(steps.map(({ id }) => id).toReversed())
        expect((await other.getTuple(CONFIG))?.pendingWrites).toHaveLength(1)
        if (faulty.failed().length === 0) return
      }
    }
  })
})

test("BEY-12: two processes that write to a thread at once take turns, and no checkpoint is lost", async () => {
  const root = directory()
  const savers = [1, 2].map(() => strataSaver({ store: fileStore({ root, flush: "never" }) }))
  await Promise.all(
    savers.map(async (saver, at) => {
      for (let number = 0; number < 5; number++) await put(saver, 10 * at + number, { messages: [message(number)] })
      await saver.close()
    }),
  )
  expect(await idsOf(savers[0]!)).toHaveLength(10)
})

test("BEY-12: a thread that another process does not give back is an error that names it", async () => {
  const store = memoryStore()
  const address = { project: PLACE, id: "t-chat-7" }
  const held = await store.open(address, { access: "write", create: true })
  const saver = strataSaver({ store, lockTimeoutMs: 20 })
  await expect(put(saver, 1, {})).rejects.toThrow(/is already open/)
  await held.close()
  await put(saver, 2, { messages: [] })
  expect(await idsOf(saver)).toHaveLength(1)
})

test("BEY-12: owners and projects share no thread, and any id names one", async () => {
  const store = memoryStore()
  const of = (owner?: string, project?: string) =>
    strataSaver({ store, ...(owner === undefined ? {} : { owner }), ...(project === undefined ? {} : { project }) })
  await put(of("ada"), 1, { whose: "ada" })
  expect(await valuesOf(of("bob"))).toBeUndefined()
  expect(await valuesOf(of())).toBeUndefined()
  expect(await valuesOf(of("ada", "other"))).toBeUndefined()
  await put(of("ada", "acme inc"), 1, { whose: "acme inc" })
  expect(await valuesOf(of("ada", "acme-inc"))).toBeUndefined()
  const names = ["../../etc/passwd", "A", "a", "__proto__", "user: 7 \u202e", "x".repeat(5000)]
  const saver = of("eve")
  for (const [at, thread_id] of names.entries())
    await saver.put({ configurable: { thread_id } }, checkpoint(at, { at }), METADATA, {})
  const found = await gathered(saver.list({}))
  expect(
    new Map(found.map(({ config, checkpoint }) => [config.configurable?.thread_id, checkpoint.channel_values.at])),
  ).toEqual(new Map(names.map((name, at) => [name, at])))
})

test("BEY-12: a deleted thread is not found, and its id can be used again", async () => {
  const store = memoryStore()
  const saver = strataSaver({ store })
  const first = await put(saver, 1, { messages: [message(1)] })
  await saver.deleteThread("chat-7")
  await saver.deleteThread("never there")
  expect(await saver.getTuple(first)).toBeUndefined()
  expect(await idsOf(saver)).toEqual([])
  await put(saver, 2, { messages: [] })
  const other = strataSaver({ store: { ...store } })
  expect(await idsOf(other)).toHaveLength(1)
  expect(await other.getTuple(first)).toBeUndefined()
})

test("BEY-12: a damaged line costs the checkpoints that are built on it, and says so", async () => {
  const root = directory()
  const store = () => fileStore({ root, flush: "never" })
  const saver = strataSaver({ store: store() })
  const steps = [0, 1, 2].map((number) => [message(number), message(number + 1)])
  const configs = []
  for (const [at, messages] of steps.entries()) configs.push(await put(saver, at, { messages }))
  await saver.close()
  const lines = readFileSync(journalIn(root), "utf8").split("\n")
  lines[2] = lines[2]!.replace("question", "QUESTION")
  writeFileSync(journalIn(root), lines.join("\n"))
  const other = strataSaver({ store: store() })
  expect((await other.getTuple(configs[0]!))?.checkpoint.channel_values).toEqual({ messages: steps[0] })
  await expect(other.getTuple(configs[2]!)).rejects.toMatchObject({ code: "damaged-thread" })
  await put(other, 3, { messages: steps[1] })
  expect(await valuesOf(other)).toEqual({ messages: steps[1] })
  appendFileSync(journalIn(root), '{"uuid":"torn')
  await other.close()
  expect(await valuesOf(strataSaver({ store: store() }))).toEqual({ messages: steps[1] })
})

test("BEY-12: an unchanged channel has the value that was stored for its version, or none", async () => {
  const store = memoryStore()
  const saver = strataSaver({ store })
  const versions = { topic: 1, notes: 1 }
  const step = (number: number, values: Record<string, unknown>, channel_versions: Record<string, number>) => ({
    ...checkpoint(number, values),
    channel_versions,
  })
  const values = { topic: "rivers", notes: ["long"] }
  const stored = async (...given: [Checkpoint, newVersions: Record<string, number>]) => {
    const [each, newVersions] = given
    const config = await saver.put(CONFIG, each, METADATA, newVersions)
    return valuesOf(strataSaver({ store: { ...store } }), config as typeof CONFIG)
  }
  expect(await stored(step(1, values, versions), {})).toEqual({})
  expect(await stored(step(2, values, versions), { topic: 1 })).toEqual({ topic: "rivers" })
  expect(await stored(step(3, values, versions), { notes: 1 })).toEqual(values)
  const later = { topic: "lakes", notes: ["long"] }
  expect(await stored(step(4, later, { topic: 2, notes: 1 }), { topic: 2 })).toEqual(later)
  // a copy of the previous step, as `updateState` creates it
  expect(await stored(step(5, values, versions), {})).toEqual(values)
})
