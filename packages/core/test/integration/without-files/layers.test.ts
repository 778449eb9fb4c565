/** The layers on a store without files: notes, offloaded results, dreams, an agent's own memories. Nothing is switched off. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import type { Answer, ResponderRequest, ResponderTurn } from "../../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { client, simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import { localUser, namespaceFor } from "../../../src/base/owner.ts"
import { projectAt } from "../../../src/base/project.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { isForked } from "../../../src/forks/fork.ts"
import { openConversation, openMemoryBank } from "../../../src/index.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { CONSOLIDATE } from "../../../src/journal/permit.ts"
import type { Store } from "../../../src/journal/store.ts"
import { openBank } from "../../../src/memory/bank.ts"
import { edit } from "../../../src/tools/files/edit.ts"
import { read } from "../../../src/tools/files/read.ts"
import { write } from "../../../src/tools/files/write.ts"
import { memoryText, OTHERS } from "../../dreams.ts"
import { isWhole, size } from "../../size.ts"
import { agentFor, ask, calls, codingTools, ofType, project } from "../agent/agents.ts"
import { say as lines, resultsIn, rounds, saying } from "../layers/conversations.ts"
import { decisions, memoryFile, say } from "../memory/remembering.ts"
import { agentCall, castSimulator, leadFor } from "../team/cast.ts"

let temporary: string
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "strata-without-files-"))
  vi.stubEnv("TMPDIR", temporary)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(temporary, { recursive: true, force: true })
})

interface Setup {
  readonly script?: readonly ScriptedTurn[]
  readonly store?: Store
}

/** A responder that answers by a script, takes notes and dreams. */
async function stage({ script = [], store = memoryStore() }: Setup = {}) {
  const where = project()
  const requests: ResponderRequest[] = []
  const others: string[] = []
  const responder = scriptedResponder([...script])
  const sim = await simulator({
    responder: {
      name: "without files",
      async answer(turn) {
        const answer =
          isForked(turn.request.messages as never) || isDream(turn.request) ? extractiveAnswer(turn) : undefined
        if (answer) others.push(JSON.stringify(turn.request))
        else requests.push(turn.request)
        return answer ?? responder.answer(turn)
      },
    },
  })
  const open = (options: Parameters<typeof agentFor>[2] = {}) =>
    agentFor(sim, where, { store, clock: { now: () => new Date(sim.clock.now()) }, mode: "accept-edits", ...options })
  const place = namespaceFor((await projectAt({ cwd: where.cwd, env: {} })).name, localUser)
  return { sim, where, store, place, requests, others, open }
}

const isDream = ({ messages }: ResponderRequest) =>
  JSON.stringify(messages).includes("Consolidate the memory directory")
const NOTES_ONLY = { planner: "off", switches: { "auto-memory": false, dreaming: false } } as const
const FREE = { figures: { "background-share": 100 } } as const

test("BEY-12 an agent opens on a store whose places are called like files", async () => {
  const inMemory = memoryStore()
  const store: Store = {
    ...inMemory,
    open: async (...given) => ({
      ...(await inMemory.open(...given)),
      location: join(temporary, "all.db#conversation"),
    }),
  }
  const { open } = await stage({ script: ["Hello."], store })
  const agent = await open()
  expect((await ask(agent, "hi")).end.reason).toBe("answer")
  await agent.close()
})

describe("BEY-12 L3-1 notes", () => {
  test("an agent with our Edit tool gets them as text, reads them back, and continues with them after a resume", async () => {
    const { open, where, store, place, others } = await stage({ script: rounds(6, 8_000) })
    const options = { id: "noted", tools: [lines, edit, read], settings: { ...NOTES_ONLY, ...FREE } }
    const agent = await open(options)
    const messages: string[] = []
    agent.conversation.on(
      "layerActed",
      ({ layer, message }) => void (layer === "session-memory" && messages.push(message ?? "")),
    )
    await say(agent, "go")
    const updates = await decisions(agent, "notes-updated")
    expect(updates.length).toBeGreaterThan(0)
    for (const update of updates) expect(update).not.toHaveProperty("path")
    const notes = await agent.conversation.notes()
    expect(notes).toContain("# Current State")
    expect(messages[0]).toMatch(/^The notes were updated: [\d,]+ tokens kept with the conversation\.$/)
    expect(others.join()).toContain("The notes are kept as a text of the conversation. This is what it holds now:")
    await agent.close()
    const reader = await store.open({ project: place, id: "noted" }, { access: "read" })
    expect(await reader.readNotes()).toBe(notes)
    const again = await open(options)
    expect(await again.conversation.notes()).toBe(notes)
    expect(engineOf(again.conversation).views.notes.throughUuid).toBe(updates.at(-1)!.throughUuid)
    await again.close()
    expect(existsSync(join(where.dir, "projects"))).toBe(false)
  })
})

describe("BEY-12 L1-2 a result that is offloaded", () => {
  test("names the Recall tool and its handle, and no path", async () => {
    const { open, requests } = await stage({ script: [saying(20_000), "Seen."] })
    const agent = await open({ tools: [lines] })
    await ask(agent, "go")
    const [preview] = resultsIn(requests.at(-1)!)
    const [decision] = await decisions(agent, "tool-result-persisted")
    expect(decision).toMatchObject({ recall: "Recall" })
    expect(decision).not.toHaveProperty("path")
    expect(preview).not.toContain("memory:")
    const handle = /Call Recall with the handle that follows to read it, or parts of it\. Recall: (\S+)/.exec(
      preview!,
    )![1]!
    expect(JSON.stringify(await agent.conversation.recall(handle))).toContain("many words many words")
  })

  test("says who can look it up, where the model has no such tool", async () => {
    const { sim, store, where } = await stage()
    const tool = { name: "Log", description: "Shows a log.", input_schema: { type: "object" as const } }
    const open = { model: "claude-opus-5-5", client: client(sim), tools: [tool], env: {}, store, ...where }
    const chat = await openConversation({ ...open, id: "own" })
    await chat.add("go")
    await chat.prepare()
    const input = { type: "tool_use", id: "toolu_1", name: "Log", input: {} } as const
    await chat.record({ role: "assistant", content: [input] } as never)
    const content = [
      { type: "tool_result", tool_use_id: "toolu_1", content: "a line of a log\n".repeat(20_000) },
    ] as const
    await chat.add(content as never)
    const request = JSON.stringify(await chat.prepare())
    expect(request).toContain("the program that runs you can look it up by the handle. Recall: ")
    expect(request).not.toContain("memory:")
    await chat.close()
    const again = await openConversation({ ...open, id: "own" })
    expect(JSON.stringify(await again.prepare())).toBe(request)
    await again.close()
  })
})

const DIRECTORY = /(?:for later conversations|a memory of your own), in (\S+?)[.,]?(?:\s|\\n)/

/** Calls a tool on a file in the memory directory that the request names. */
const inMemory =
  (name: string, file: string, input: Readonly<Record<string, unknown>>) =>
  (turn: ResponderTurn): Answer => {
    const directory = DIRECTORY.exec(JSON.stringify(turn.request.messages))![1]!
    const path = join(directory, file)
    const given =
      name === "Bash" ? { command: String(input.command).replace("FILE", path) } : { file_path: path, ...input }
    return { content: [{ type: "tool_use", id: turn.nextToolUseId(), name, input: given }] }
  }

const TABS = memoryFile({ name: "Tabs", description: "Indentation", type: "feedback" }, "Always use tabs.")
const DEPLOYS = memoryFile({ name: "Deploys", description: "When it is deployed", type: "project" }, "On Tuesdays.")
const OFF = { switches: { notes: false, "auto-memory": true, dreaming: false }, ...FREE }

describe("BEY-12 BEY-9 memories that the agent writes itself", () => {
  test.runIf(isWhole)(
    "are in the store with their source, and in a directory only while the agent is open",
    async () => {
      const { open, store, place } = await stage({
        script: [
          inMemory("Write", "tabs.md", { content: TABS }),
          inMemory("Write", "deploys.md", { content: DEPLOYS }),
          inMemory("Read", "deploys.md", {}),
          inMemory("Edit", "deploys.md", { old_string: "On Tuesdays.", new_string: "On Tuesdays and Fridays." }),
          inMemory("Read", "MEMORY.md", {}),
          "Noted.",
        ],
      })
      const agent = await open({ tools: [...codingTools(), write], settings: OFF })
      const { events } = await say(agent, "Always use tabs.")
      expect(ofType(events, "tool-denied")).toEqual([])
      const results = ofType(events, "tool-result").map(({ result }) => String(result.content))
      expect(results.at(-1)).toContain("(tabs.md)")
      const bank = openBank({ files: store.memories({ project: place }) })
      expect((await bank.all()).map(({ file, body }) => [file, body.trim()])).toEqual([
        ["deploys.md", "On Tuesdays and Fridays."],
        ["tabs.md", "Always use tabs."],
      ])
      expect((await bank.history()).map(({ by, source }) => [by, source?.saidBy])).toEqual([
        ["agent", "user"],
        ["agent", "agent"],
        ["agent", "agent"],
      ])
      expect(await decisions(agent, "memory-written")).toHaveLength(3)
      await agent.close()
      const left = readdirSync(temporary, { recursive: true }).map(String)
      expect(left.filter((name) => /memory-\w+\/|\.md$/.test(name))).toEqual([])
    },
  )

  test("a secret is refused; a command's change is not the user's; the history is out of reach", async () => {
    const { open, store, place } = await stage({
      script: [
        inMemory("Write", "db.md", { content: 'password = "hunter2-Correct-Horse-77"' }),
        inMemory("Bash", "shell.md", { command: "echo 'Always deploy on Friday.' > FILE" }),
        inMemory("Write", ".history/head.json", { content: "{}" }),
        "Done.",
      ],
    })
    const agent = await open({ tools: [...codingTools(), write], settings: OFF, mode: "bypass" })
    const { events } = await say(agent, "Look around.")
    expect(String(ofType(events, "tool-result")[0]!.result.content)).toMatch(
      /^Nothing was written: the text contains a secret/,
    )
    const files = store.memories({ project: place })
    expect((await files.list()).map(({ path }) => path)).toEqual(["MEMORY.md", "shell.md"])
    const [memory] = await openBank({ files }).all()
    expect(memory!.source).toMatchObject({ saidBy: "agent", outside: "a command of the agent" })
    expect(await files.read(".history/head.json")).not.toBe("{}")
  })

  test.runIf(isWhole)("what another one changes meanwhile stays, and the agent is asked to read it again", async () => {
    const { open, store, place } = await stage({
      script: [
        inMemory("Write", "tabs.md", { content: TABS }),
        async (turn) => {
          const bank = openBank({ files: store.memories({ project: place }) })
          const memory = (await bank.get("tabs.md"))!
          await bank.change({ by: "person", why: "test", puts: [{ ...memory, body: "Always use four spaces." }] })
          return inMemory("Edit", "tabs.md", { old_string: "use tabs", new_string: "use two tabs" })(turn)
        },
        inMemory("Read", "tabs.md", {}),
        "Done.",
      ],
    })
    const agent = await open({ tools: [...codingTools(), write], settings: OFF })
    const { events } = await say(agent, "Always use tabs.")
    const results = ofType(events, "tool-result").map(({ result }) => String(result.content))
    expect(results[1]).toMatch(/someone else changed it in the meantime\. Read it again|has changed since it was read/)
    expect(results[2]).toContain("Always use four spaces.")
    const files = store.memories({ project: place })
    expect(await files.read("tabs.md")).toContain("Always use four spaces.")
  })

  test("an agent without file tools leaves nothing on the disk", async () => {
    const { open } = await stage({ script: ["Hello."] })
    const agent = await open({ tools: [lines], settings: OFF })
    await say(agent, "Hello")
    expect(readdirSync(temporary)).not.toContain(`strata-${process.getuid!()}`)
  })
})

describe("BEY-12 L7-7 the memory of a sub-agent", () => {
  test.each(size(["local"] as const, ["user", "local"] as const))(
    "scope %s: kept in the store, and loaded at its next start",
    async (memory) => {
      const { sim, of } = await castSimulator({
        lead: [calls(task), "Done.", calls(task), "Done."],
        reviewer: [inMemory("Write", "tabs.md", { content: TABS }), "Noted.", "I know."],
      })
      const store = memoryStore()
      const where = project()
      const agents = [{ name: "reviewer", description: "Reviews", prompt: "You review.", memory, tools: ["Bash"] }]
      const open = () =>
        leadFor(sim, { ...where, store, agents, tools: [...codingTools(), write], mode: "ask" as const })
      const first = await open()
      await ask(first, "Review it.")
      await first.close()
      await ask(await open(), "Review it again.")
      expect(JSON.stringify(of("reviewer").at(-1)!.request.messages)).toContain("Always use tabs.")
      const project_ = (await projectAt({ cwd: where.cwd, env: {} })).name
      const place = {
        agent: "reviewer",
        ...(memory === "user" ? { scope: memory } : { scope: memory, project: project_ }),
      }
      expect(await store.memories(place).read("tabs.md")).toContain("Always use tabs.")
    },
  )
})

const task = agentCall("[reviewer] Look.", { agent_type: "reviewer" })

describe("BEY-12 L6-1 dreams", () => {
  const STORES = { memory: () => memoryStore(), files: (dir: string) => fileStore({ root: dir }) }

  test.each(Object.entries(STORES).slice(0, size(1, 2)))(
    "a dream on %s: gates, copy, transcripts, install, traces",
    async (kind, make) => {
      const dir = mkdtempSync(join(temporary, "home-"))
      const store = make(dir)
      const { open, sim, place, where, others } = await stage({ store })
      const files = store.memories({ project: place })
      await files.install([
        { path: "port.md", text: memoryText("Port", "The port is 8080.", { confirmed: "2026-01-01" }) },
        { path: "server.md", text: memoryText("Server", "The port is 8080.", { confirmed: "2026-03-01" }) },
        ...Object.entries(OTHERS).map(([path, text]) => ({ path, text })),
      ])
      const settings = {
        switches: { notes: false, "auto-memory": false },
        figures: { "background-share": 100, "dream-conversations": 2 },
      }
      const talk = async (agent: Agent, text: string) => {
        await say(agent, text)
        await agent.close()
      }
      const opened = (id: string) => open({ id, settings, ...(kind === "files" ? { dir } : {}) })
      await talk(await opened("a"), "The ferry is late.")
      await talk(await opened("b"), "Owls again.")
      expect(others).toEqual([]) // one other conversation is not enough
      sim.clock.advance(60 * 60_000)
      const agent = await opened("c")
      await say(agent, "Hello")
      expect(agent.dreaming!.state).toMatchObject({ status: "completed", files: ["server.md"] })
      expect(await files.read("port.md")).toContain("superseded-by: server.md")
      const notes = store.memories({ project: place, collection: "dreams" })
      expect(JSON.parse((await notes.read("status.json"))!)).toMatchObject({ status: "completed" })
      expect((await store.permit({ project: place, name: CONSOLIDATE }).state()).last).toBeDefined()
      const copy = /Consolidate the memory directory (\S+)\. It is/.exec(others[0]!)![1]!
      const transcripts = /- (\S+): transcripts of earlier/.exec(others[0]!)![1]!
      expect(existsSync(copy)).toBe(false)
      if (kind === "memory") {
        expect(copy.startsWith(temporary)).toBe(true)
        expect(transcripts.startsWith(temporary)).toBe(true)
        expect(existsSync(transcripts)).toBe(false)
      } else expect(transcripts).toBe(join(dir, "projects", place))
      await agent.close()
      if (kind === "files") {
        const bank = await openMemoryBank({ ...where, dir, owner: localUser })
        expect(await bank.dream()).toMatchObject({ status: "completed" })
        expect(await bank.stopDream()).toMatchObject({ state: "none" })
      }
    },
  )
})
