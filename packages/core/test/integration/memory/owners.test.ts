/** Separation of owners at the library's public functions. The invariant has its own property test. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { importConversations } from "../../../../transcripts/src/import/import-conversations.ts"
import { judge } from "../../../src/agent/permissions/permissions.ts"
import { bashTool } from "../../../src/agent/tools/shell/bash.ts"
import { ShellSession } from "../../../src/agent/tools/shell/shell-session.ts"
import { manualClock, projectName } from "../../../src/base/clock.ts"
import { InvalidOptionError } from "../../../src/base/options.ts"
import { localUser, type MemoryOption, namespaceFor } from "../../../src/base/owner.ts"
import { projectAt } from "../../../src/base/project.ts"
import type { Conversation } from "../../../src/conversation/conversation.ts"
import { listConversations } from "../../../src/conversation/list.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { handleOf } from "../../../src/messages/media.ts"
import { agentMemoryFor } from "../../../src/team/definitions/memory-choice.ts"
import { glob } from "../../../src/tools/files/glob.ts"
import { grep } from "../../../src/tools/files/grep.ts"
import { read } from "../../../src/tools/files/read.ts"
import { recallTool } from "../../../src/tools/session/recall.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { agentFor, ask, calls, project } from "../agent/agents.ts"
import { memoryIn, say, stage } from "./remembering.ts"

const FACT = "The staging server heron has the port 7071."
const QUESTION = "Which port has the staging server heron?"

function server(store?: ReturnType<typeof memoryStore>) {
  const where = { ...project(), ...(store ? { store } : {}) }
  async function open(id: string, memory?: MemoryOption, recall = recallTool()) {
    const chat = await openConversation({
      ...{ model: "claude-opus-4-6", id, env: {}, clock: manualClock(), ...where, tools: [recall] },
      settings: { flush: "never" },
      ...(memory === undefined ? {} : { memory }),
    })
    onTestFinished(() => chat.close())
    return { chat, recall }
  }
  async function says(id: string, text: string, memory?: MemoryOption): Promise<string> {
    const { chat } = await open(id, memory)
    const uuid = await chat.add(text)
    const request = await sent(chat)
    await chat.record({ id: `msg_${id}`, content: [{ type: "text", text: "Noted." }] })
    await chat.whenIdle()
    await chat.close()
    return `${request}\n${uuid}`
  }
  return { where, open, says }
}

const sent = async (chat: Conversation) => serialiseRequest(await chat.prepare())

describe.each([
  ["files", undefined],
  ["memory", memoryStore()],
] as const)("L5-12 two users of one server, in %s", (_, store) => {
  test("without an owner, nothing of one conversation reaches another, and each finds its own", async () => {
    const { open, says } = server(store)
    const answer = await says("customer-1", FACT)
    const request = await says("customer-2", QUESTION)
    expect(request).not.toContain("7071")
    const { recall } = await open("customer-2")
    const { content } = await recall.execute({ search: "heron port", in: "project" })
    expect(content).not.toContain("7071")
    expect(content).toContain("it has no owner, so it shares nothing with others")
    const stolen = await recall.execute({ handle: `customer-1/${handleOf(answer.split("\n").at(-1)!)}` })
    expect(JSON.stringify(stolen)).not.toContain("7071")
    const own = await open("customer-1")
    expect((await own.recall.execute({ search: "heron port" })).content).toContain("7071")
  })

  test("conversations of one owner share their content; the same ids of another owner are other conversations", async () => {
    const { open, says, where } = server(store)
    await says("monday", FACT, { owner: "ada" })
    const { recall } = await open("tuesday", { owner: "ada" })
    expect((await recall.execute({ search: "heron port", in: "project" })).content).toContain("7071")
    const other = await open("monday", { owner: "Ada" })
    expect(other.chat.openResult.resumed).toBe(false)
    expect((await other.recall.execute({ search: "heron port", in: "project" })).content).not.toContain("7071")
    const listed = async (owner?: string) =>
      (await listConversations({ ...where, env: {}, ...(owner ? { owner } : {}) })).map(({ id }) => id)
    expect(await listed("ada")).toEqual(["monday"])
    expect(await listed("eve")).toEqual([])
    expect(await listed()).toEqual([])
  })

  test("an owner does not silently get an empty conversation in place of one that was kept without it", async () => {
    const { open, says, where } = server(store)
    await says("old", FACT)
    await says("program", FACT, { owner: localUser })
    for (const id of ["old", "program"])
      await expect(open(id, { owner: "ada" })).rejects.toMatchObject({
        name: "InvalidOptionError",
        option: "memory",
        message: expect.stringContaining(id),
      })
    const listed = async (owner?: typeof localUser) =>
      (await listConversations({ ...where, env: {}, ...(owner ? { owner } : {}) })).map(({ id }) => id)
    expect(await listed()).toEqual(["old"])
    expect(await listed(localUser)).toEqual(["program"])
    const { chat } = await open("program") // data stored before owners existed remains usable
    expect(chat.openResult.resumed).toBe(true)
    expect((await open("old")).chat.openResult.resumed).toBe(true)
  })
})

test("L5-12 an owner in files has a directory of its own for all it keeps, and none of its names is in a path", async () => {
  const { says, where } = server()
  await says("monday", FACT, { owner: "ada@example.org" })
  await says("monday", QUESTION, { owner: "../../eve" })
  await says("free", FACT)
  const names = readdirSync(join(where.dir, "projects")).sort()
  const name = projectName(where.cwd)
  expect(names).toEqual(
    [namespaceFor(name, "ada@example.org"), namespaceFor(name, "../../eve"), namespaceFor(name, undefined)].sort(),
  )
  expect(names.join()).not.toMatch(/@|example|\.\./) // not "ada": a hash can contain it
  expect(existsSync(join(where.dir, "projects", namespaceFor(name, undefined), "memory"))).toBe(false)
})

test("L5-12 an owner that is missing is refused where it is given", async () => {
  const { open } = server()
  for (const owner of ["", " ", undefined, 7])
    await expect(open("x", { owner } as never)).rejects.toThrow(InvalidOptionError)
})

test("L5-12 an imported transcript belongs to whom it was imported for", async () => {
  const { where, open } = server()
  mkdirSync(where.cwd, { recursive: true })
  const file = join(where.cwd, "session.jsonl")
  const line = {
    type: "user",
    uuid: "11111111-1111-4111-8111-111111111111",
    parentUuid: null,
    sessionId: "s1",
    timestamp: "2026-01-01T00:00:00.000Z",
    cwd: where.cwd,
    message: { role: "user", content: FACT },
  }
  writeFileSync(file, `${JSON.stringify(line)}\n`)
  await importConversations({ file, ...where, env: {}, owner: "ada" })
  const found = async (memory?: MemoryOption) =>
    (await (await open("asking", memory)).recall.execute({ search: "heron port", in: "project" })).content
  expect(await found({ owner: "ada" })).toContain("7071")
  expect(await found({ owner: "eve" })).not.toContain("7071")
  expect(await found()).not.toContain("7071")
})

test("L5-12 an agent's own memory is its owner's in every scope, and needs an owner", async () => {
  const { where } = server()
  const settings = { values: { off: false, memory: "auto" }, origins: {} } as never
  const choose = (scope: "user" | "local" | "project", owner: string | typeof localUser | undefined) =>
    agentMemoryFor(
      { name: "finder", memory: scope },
      {
        ...{ store: memoryStore(), owner, cwd: where.cwd, settings },
        project: () => projectAt({ cwd: where.cwd, env: {} }),
      },
    )
  for (const scope of ["user", "local", "project"] as const) {
    const [ada, eve] = [await choose(scope, "ada"), await choose(scope, "eve")]
    expect(ada).toMatchObject({ state: "place", place: { agent: "finder", scope: "local" } })
    expect(ada).not.toEqual(eve)
    expect(await choose(scope, undefined)).toMatchObject({
      state: "refused",
      reason: expect.stringContaining("no owner"),
    })
  }
  expect(await choose("user", localUser)).toMatchObject({ place: { agent: "finder", scope: "user" } })
})

test("L5-7 a copy of a conversation does not recall the words that both have, and does recall later content of the other", async () => {
  const { open } = server()
  const { chat } = await open("first", { owner: "ada" })
  await chat.add(FACT)
  await chat.prepare()
  await chat.record({ id: "msg_1", content: [{ type: "text", text: "Noted." }] })
  const last = await chat.add("The walrus buoy is painted green.")
  await chat.prepare()
  await chat.record({ id: "msg_2", content: [{ type: "text", text: "Noted." }] })
  const copy = await chat.branch(last)
  await chat.add("The otter bridge is closed on Mondays.")
  await chat.close()
  const asked = await open(copy, { owner: "ada" })
  await asked.chat.add(QUESTION)
  expect((await sent(asked.chat)).split(FACT)).toHaveLength(2)
  await asked.chat.record({ id: "msg_3", content: [{ type: "text", text: "7071." }] })
  await asked.chat.add("On which day is the otter bridge closed?")
  expect(await sent(asked.chat)).toContain("closed on Mondays")
})

test("L5-12 an agent without an owner says so where something is to be kept, and keeps nothing", async () => {
  const { sim, where, requests } = await stage()
  const agent = await agentFor(sim, where, { memory: false, settings: { memory: "auto" } })
  expect(agent.problems).toContainEqual(expect.stringContaining("this one has no owner"))
  await expect(agent.remember("always use tabs")).rejects.toThrow("this conversation has no owner")
  await say(agent, "Always use tabs in the importer.")
  expect(requests).toHaveLength(1)
  expect(await agent.dream()).toBeUndefined()
  expect(existsSync(memoryIn(where))).toBe(false)
})

test("L5-12 the tools of an agent may read what its own conversation offloaded, and ask for what others did", async () => {
  const { sim, where } = await stage()
  const agent = await agentFor(sim, { ...where, dir: join(where.cwd, "data") }, { id: "mine", memory: false })
  expect(agent.problems).toEqual([])
  const ada = await agentFor(sim, { ...where, dir: join(where.cwd, "data") }, { memory: { owner: "ada" } })
  expect(ada.problems).toContainEqual(expect.stringContaining("can read other owners' data"))
  const { policy } = agent.shared.state
  const reading = (...path: string[]) => {
    const paths = [join(where.cwd, "data", "projects", namespaceFor(projectName(where.cwd), undefined), ...path)]
    return judge(
      { tool: "Read", isReadOnly: true, question: { kind: "read", summary: "", paths } },
      { ...policy, mode: "ask" },
    )
  }
  expect(reading("tool-results", "mine", "a.txt").verdict).toBe("allow")
  expect(reading("tool-results", "other", "a.txt").verdict).toBe("ask")
  expect(reading("other.jsonl").verdict).toBe("ask")
})

describe.each([
  ["by its path", (data: string) => data],
  ["by a path that is not absolute", (data: string) => relative(process.cwd(), data)],
  ["through a link", linkTo],
] as const)("L5-12 a store inside the project, named %s", (_, named) => {
  test.each([false, { owner: "eve" }] as const)("is not searched or read for %o", async (memory) => {
    const { cwd } = project({ "notes.md": "The heron flies.\n" })
    const data = join(cwd, "data")
    mkdirSync(data)
    const where = { cwd, dir: named(data) }
    const journal = join(data, "projects", namespaceFor(projectName(cwd), "ada"), "monday.jsonl")
    const script = [
      "Noted.",
      calls(
        ["Grep", { pattern: "heron", output_mode: "content" }],
        ["Glob", { pattern: "**/*.{md,jsonl}" }],
        ["Bash", { command: "grep -rah heron ." }],
        ["Bash", { command: "cat data/projects/*/monday.jsonl" }],
        ["Read", { file_path: journal }],
      ),
      "Done.",
    ]
    const { sim, requests } = await stage({ where, script })
    const tools = () => [read, grep, glob, bashTool(new ShellSession())]
    await say(await agentFor(sim, where, { id: "monday", memory: { owner: "ada" }, tools: tools() }), FACT)
    await ask(await agentFor(sim, where, { id: "tuesday", memory, tools: tools() }), "Look around.")
    const results = JSON.stringify(requests.at(-1)!.messages.at(-1))
    expect(results).not.toMatch(/\b7071\b/) // as a complete word: a random id may contain these digits
    expect(results).not.toContain("monday.jsonl\\n")
    expect(results).toContain("The heron flies.")
  })
})

function linkTo(data: string): string {
  const link = `${data}-link`
  symlinkSync(data, link)
  return link
}
