/** The number of store calls, each of which would be a network round trip. */
import { expect, onTestFinished, test } from "vitest"
import { countedStore } from "../../../store-contract/src/counted-store.ts"
import { namespaceFor, type Owner } from "../../src/base/owner.ts"
import { projectAt } from "../../src/base/project.ts"
import type { Conversation } from "../../src/conversation/conversation.ts"
import { openConversation } from "../../src/conversation/open.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { Store } from "../../src/journal/store.ts"
import { openBank } from "../../src/memory/bank.ts"
import { temporaryRoot } from "../journal-files.ts"
import { size } from "../size.ts"

const OWNER: Owner = "anna"
const MODEL = "claude-opus-5-5"
const TOOLS = [{ name: "Read", description: "Reads a file.", input_schema: { type: "object" as const } }]

async function place() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const opened = (store: Store) =>
    openConversation({
      ...{ model: MODEL, store, dir: root, cwd: root, env: {}, tools: TOOLS },
      ...{ id: "c", memory: { owner: OWNER } },
    })
  const { name } = await projectAt({ cwd: root, env: {} })
  return { opened, project: namespaceFor(name, OWNER) }
}

async function remember(store: Store, project: string, many: number): Promise<void> {
  const puts = Array.from({ length: many }, (_, nth) => ({ name: `Fact ${nth}`, body: `Importer ${nth} uses tabs.` }))
  const bank = openBank({ files: store.memories({ project }) })
  await bank.change({ by: "agent", why: "test", source: { saidBy: "user" }, puts })
}

const response = (id: string, block: object, stop: "end_turn" | "tool_use") => ({
  ...{ id, type: "message", role: "assistant", model: MODEL, stop_reason: stop, content: [block] },
  usage: { input_tokens: 10, output_tokens: 5 },
})
const answer = (text: string) => response("msg_a", { type: "text", text }, "end_turn")
const call = (id: string) =>
  response(`msg_${id}`, { type: "tool_use", id, name: "Read", input: { path: "a" } }, "tool_use")

/** One request with its answer. */
async function turn(chat: Conversation, message: Parameters<Conversation["add"]>[0], given: object): Promise<void> {
  await chat.add(message)
  await chat.prepare()
  await chat.record(given as Parameters<Conversation["record"]>[0])
}

const result = (id: string) => ({
  role: "user" as const,
  content: [{ type: "tool_result" as const, tool_use_id: id, content: "done" }],
})

test.each([0, size(200, 1_000)])("BEY-12 a turn asks the store twice, with %d memories", async (memories) => {
  const { opened, project } = await place()
  const { store, calls, reset } = countedStore(memoryStore())
  if (memories > 0) await remember(store, project, memories)
  const chat = await opened(store)
  onTestFinished(() => chat.close())
  await turn(chat, "What does importer 7 use?", call("t0"))
  for (const nth of [0, 1, 2]) {
    reset()
    await turn(chat, result(`t${nth}`), call(`t${nth + 1}`))
    expect(calls()).toEqual(["journal.append", "journal.append"])
  }
})

test.each(size([0], [0, 1_000]))(
  "BEY-12 a cold request asks the store at most 8 times, with %d memories",
  async (memories) => {
    const { opened, project } = await place()
    const kept = memoryStore()
    if (memories > 0) await remember(kept, project, memories)
    const before = await opened(kept)
    await turn(before, "Look at importer 3.", answer("Done."))
    await before.close()
    const { store, calls } = countedStore(kept)
    const chat = await opened(store)
    await turn(chat, "And what does importer 7 use?", call("t0"))
    await chat.close()
    expect(calls().length, calls().join("\n")).toBeLessThanOrEqual(8)
  },
)
