/** Sessions of other SDKs are an owner's data too: they are erased, exported and pruned with the rest. */
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph"
import { fileStore, memoryStore, openConversation, type Store } from "@strata/core"
import { eraseFrom, pruneStore } from "@strata/core/memory"
import { moveContents } from "@strata/core/store"
import { expect, test } from "vitest"
import { sessionStore } from "../src/claude-agent-sdk.ts"
import { strataSaver } from "../src/langgraph.ts"
import { strataSession } from "../src/openai-agents.ts"

const SESSION = "6f9c1d58-6b4e-4c55-9d3b-0a1f8e7c2b11"
const TEXT = "write to jane@example.com"

async function threadOf(store: Store, thread: string, { project, owner }: { project: string; owner: string }) {
  const checkpointer = strataSaver({ store, project, owner })
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", () => ({ messages: [{ role: "assistant", content: "Hello!" }] }))
    .addEdge(START, "answer")
    .compile({ checkpointer })
  await graph.invoke({ messages: [{ role: "user", content: TEXT }] }, { configurable: { thread_id: thread } })
  await checkpointer.close()
}

/** Creates a Strata conversation, and one through each SDK. */
async function filled(store: Store, project: string, owner: string): Promise<void> {
  await using chat = await openConversation({
    ...{ store, project, model: "claude-opus-5-5", memory: { owner }, env: {} },
  })
  await chat.add(TEXT)
  await threadOf(store, "42", { project, owner })
  await strataSession({ store, project, owner, sessionId: "chat-7" }).addItems([{ role: "user", content: TEXT }])
  await sessionStore({ store, project, owner }).append({ projectKey: "p", sessionId: SESSION }, [
    { type: "user", uuid: "u1", message: { role: "user", content: TEXT } },
  ])
}

const journals = ({ before }: Awaited<ReturnType<typeof eraseFrom>>) => before.conversations

test.each(["shop", "My Shop"])("BEY-12 a project's name means its sessions of other SDKs too: %s", async (project) => {
  for (const wanted of [{ owner: "ada" }, { subject: "jane@example.com" }]) {
    const store = memoryStore()
    await filled(store, project, "ada")
    await filled(store, "blog", "ada")
    expect(journals(await eraseFrom(store, { ...wanted, project }))).toBe(4)
    expect(journals(await eraseFrom(store, wanted))).toBe(4)
  }
})

test("BEY-12 everything of one owner is handed out as files, and nothing of another", async () => {
  const store = memoryStore()
  for (const owner of ["ada", "ben"]) for (const project of ["shop", "blog"]) await filled(store, project, owner)
  const to = fileStore({ root: await mkdtemp(join(tmpdir(), "strata-handed-out-")) })
  expect(await moveContents({ from: store, to, owner: "ada", project: "blog" })).toMatchObject({ refused: [] })
  expect(journals(await eraseFrom(to, { owner: "ada", dryRun: true }))).toBe(4)
  expect(await moveContents({ from: store, to, owner: "ada" })).toMatchObject({ refused: [] })
  expect(journals(await eraseFrom(to, { owner: "ben", dryRun: true }))).toBe(0)
  expect(journals(await eraseFrom(to, { subject: "jane@example.com", dryRun: true }))).toBe(8)
})

test("BEY-12 each thread of LangGraph has an age of its own: a new one keeps no old one", async () => {
  const times = ["2026-01-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z"]
  let now = 0
  const store = memoryStore({ clock: { now: () => new Date(times[now]!) } })
  for (now = 0; now < 2; now++) await threadOf(store, `t${now}`, { project: "shop", owner: "ada" })
  const { conversations, subAgents, removed } = await pruneStore(store, { before: new Date("2026-06-01") })
  expect({ conversations, subAgents }).toEqual({ conversations: 1, subAgents: 0 })
  expect(removed).toEqual([expect.stringMatching(/t-t0$/)])
})
