import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod/v4"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { KEY, simulator } from "../../../../sim/test/simulator.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import type { Settings } from "../../../src/settings/settings.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import { agentFor, ask, calls, codingTools, ofType, project } from "./agents.ts"

const results = (events: Parameters<typeof ofType>[0]) =>
  ofType(events, "tool-result").map(({ name, result }) => `${name} ${result.is_error ? "failed" : "ok"}`)

describe("LOOP-1 a task from start to answer", () => {
  test("parallel reads, an edit, a failing command, an answer", async () => {
    const where = project({ "a.txt": "one\n", "b.txt": "two\n" })
    const sim = await simulator({
      responder: scriptedResponder([
        calls(["Read", { file_path: "a.txt" }], ["Read", { file_path: "b.txt" }]),
        calls(["Edit", { file_path: "a.txt", old_string: "one", new_string: "ONE" }]),
        calls(["Bash", { command: "cat a.txt; exit 3" }]),
        "Done.",
      ]),
    })
    const agent = await agentFor(sim, where, { mode: "bypass" })
    const { events, end } = await ask(agent, "Shout in a.txt")

    expect(end).toEqual({ reason: "answer", text: "Done." })
    expect(results(events)).toEqual(["Read ok", "Read ok", "Edit ok", "Bash failed"])
    expect(readFileSync(join(where.cwd, "a.txt"), "utf8")).toBe("ONE\n")
    const bash = ofType(events, "tool-result").at(-1)!
    expect(String(bash.result.content)).toContain("ONE")
    expect(events.at(-1)).toMatchObject({ type: "done", turns: 4, reason: "answer" })
    expect(sim.log.map(({ status }) => status)).toEqual([200, 200, 200, 200])

    expect(engineOf(agent.conversation).views.artifacts.files.get(join(where.cwd, "a.txt"))).toMatchObject({
      reads: 1,
      changes: 1,
    })
    expect([...engineOf(agent.conversation).views.artifacts.commands.values()]).toMatchObject([
      { failed: true, exitCode: 3 },
    ])
    expect(engineOf(agent.conversation).views.frontier).toMatchObject({
      answered: true,
      request: { text: "Shout in a.txt" },
    })
  })

  test("events come in the order things happen", async () => {
    const sim = await simulator({ responder: scriptedResponder([calls(["Read", { file_path: "a.txt" }]), "Read it."]) })
    const agent = await agentFor(sim, project({ "a.txt": "x" }))
    const { events } = await ask(agent, "Read a.txt")
    const types = events.map(({ type }) => type).filter((type) => type !== "thinking")
    expect([...new Set(types)]).toEqual(["user", "request", "response", "tool-start", "tool-result", "text", "done"])
  })
})

describe("LOOP-3 tools", () => {
  test("read-only calls run in parallel, others one after the other", async () => {
    const log: string[] = []
    let inside = 0
    let max = 0
    const tool = (name: string, readOnly: boolean): Tool => ({
      name,
      description: name,
      inputSchema: z.object({ n: z.number() }),
      readOnly,
      question: () => ({ kind: "other", summary: name }),
      async execute(input) {
        max = Math.max(max, ++inside)
        await new Promise((resolve) => setImmediate(resolve))
        inside--
        log.push(`${name}${(input as { n: number }).n}`)
        return { content: "ok" }
      },
    })
    const sim = await simulator({
      responder: scriptedResponder([
        calls(["Look", { n: 1 }], ["Look", { n: 2 }], ["Change", { n: 3 }], ["Change", { n: 4 }], ["Look", { n: 5 }]),
        "Done.",
      ]),
    })
    const agent = await agentFor(sim, project(), { mode: "bypass", tools: [tool("Look", true), tool("Change", false)] })
    const { events } = await ask(agent, "go")
    expect(log).toEqual(["Look1", "Look2", "Change3", "Change4", "Look5"])
    expect(max).toBe(2)
    expect(results(events)).toHaveLength(5)
  })

  test("unknown tools, invalid inputs and tools that throw are error results, and the loop continues", async () => {
    const bad: Tool = {
      name: "Bad",
      description: "throws",
      inputSchema: z.object({}),
      readOnly: true,
      question: () => ({ kind: "other", summary: "bad" }),
      execute: () => Promise.reject(new Error("it broke")),
    }
    const sim = await simulator({
      responder: scriptedResponder([calls(["Nope", {}], ["Read", { wrong: 1 }], ["Bad", {}]), "I see."]),
    })
    const agent = await agentFor(sim, project(), { tools: [...codingTools(), bad] })
    const { events, end } = await ask(agent, "go")
    expect(results(events)).toEqual(["Nope failed", "Read failed", "Bad failed"])
    const texts = ofType(events, "tool-result").map(({ result }) => String(result.content))
    expect(texts[0]).toMatch(/no tool named Nope/)
    expect(texts[1]).toMatch(/does not fit the tool Read.*file_path/)
    expect(texts[2]).toBe("it broke")
    expect(end.reason).toBe("answer")
  })
})

describe("PERM-1 permissions in the loop", () => {
  test("without a user, a call that needs approval is denied, and the model learns why", async () => {
    const where = project({ "a.txt": "one" })
    const sim = await simulator({
      responder: scriptedResponder([calls(["Bash", { command: "touch made" }]), "Not allowed, then."]),
    })
    const agent = await agentFor(sim, where)
    const { events, end } = await ask(agent, "make it")
    expect(ofType(events, "tool-denied")).toMatchObject([
      { name: "Bash", why: expect.stringContaining("no one to ask") },
    ])
    expect(results(events)).toEqual(["Bash failed"])
    expect(end.reason).toBe("answer")
  })

  test("a user sees what would happen, and their answer counts", async () => {
    const where = project()
    const asked: string[] = []
    const sim = await simulator({
      responder: scriptedResponder([
        calls(["Bash", { command: "touch yes" }]),
        calls(["Bash", { command: "touch no" }]),
        "ok",
      ]),
    })
    const agent = await agentFor(sim, where, {
      askPermission: ({ question }) => {
        asked.push(question.summary)
        return question.summary.includes("yes") ? { allowed: true } : { allowed: false, remark: "not that one" }
      },
    })
    const { events } = await ask(agent, "touch")
    expect(asked).toHaveLength(2)
    expect(results(events)).toEqual(["Bash ok", "Bash failed"])
    expect(String(ofType(events, "tool-result").at(-1)!.result.content)).toContain("not that one")
    // typed into a dialog, but still a user message: a compaction preserves it
    expect(engineOf(agent.conversation).views.words.messages.map(({ text }) => text)).toEqual(["touch", "not that one"])
  })

  test("PERM-2 the system's own files cannot be edited, not even through a symlink", async () => {
    const where = project()
    const sim = await simulator({
      responder: scriptedResponder([
        calls(["Bash", { command: `ln -s ${where.dir} link` }]),
        calls(["Edit", { file_path: "link/evil.txt", old_string: "", new_string: "x" }]),
        "ok",
      ]),
    })
    const agent = await agentFor(sim, where, { mode: "bypass" })
    const { events } = await ask(agent, "go")
    expect(ofType(events, "tool-denied")).toMatchObject([
      { name: "Edit", why: expect.stringContaining("belongs to Strata") },
    ])
  })
})

describe("LOOP-5 failures of the API", () => {
  test("overload, then success: the user sees that it retries", async () => {
    const sim = await simulator({
      responder: scriptedResponder(["Here."]),
      faults: [{ fault: { kind: "overloaded" }, times: 2 }],
    })
    const agent = await agentFor(sim, project())
    const { events, end } = await ask(agent, "hello?")
    expect(ofType(events, "retry")).toHaveLength(2)
    expect(end).toEqual({ reason: "answer", text: "Here." })
  })

  test("a stream cut in the middle is retried, and nothing is in the journal twice", async () => {
    const sim = await simulator({
      responder: scriptedResponder(["A long answer that is cut.", "A long answer that is whole."]),
      faults: [{ fault: { kind: "cut-socket", afterEvents: 5 }, nth: 1 }],
    })
    const agent = await agentFor(sim, project())
    const { events, end } = await ask(agent, "tell me")
    expect(ofType(events, "retry")).toHaveLength(1)
    expect(end.reason).toBe("answer")
    expect(engineOf(agent.conversation).views.ledger.lines.get("main claude-opus-5-5")).toMatchObject({
      requests: 2, // the interrupted request was billed too
      estimated: { requests: 1 },
    })
  })

  test("a request that the API refuses ends with a clear error and a conversation that can go on", async () => {
    const sim = await simulator({ responder: scriptedResponder(["ok"]), apiKeys: ["another-key"] })
    const agent = await agentFor(sim, project())
    const { end } = await ask(agent, "hello")
    expect(end).toMatchObject({ reason: "error", error: { name: "AuthenticationError" } })
    expect(JSON.stringify(end)).not.toContain("sk-sim-test")
  })
})

describe("LOOP-4 abort", () => {
  test("in the middle of a tool: every call gets a result, the process is gone, and the conversation continues", async () => {
    const where = project()
    const abort = new AbortController()
    const sim = await simulator({
      responder: scriptedResponder([
        calls(["Bash", { command: "echo started; sleep 60" }], ["Bash", { command: "echo never" }]),
        "Back again.",
      ]),
    })
    const agent = await agentFor(sim, where, { mode: "bypass" })
    const { events, end } = await ask(agent, "work", {
      signal: abort.signal,
      watch: (event) => event.type === "tool-start" && abort.abort(),
    })
    expect(end).toEqual({ reason: "aborted" })
    expect(results(events)).toEqual(["Bash failed", "Bash failed"])
    expect(String(ofType(events, "tool-result")[1]!.result.content)).toContain("Interrupted")

    const again = await ask(agent, "go on")
    expect(again.end).toEqual({ reason: "answer", text: "Back again." })
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  })

  test("in the middle of a stream: received text is preserved", async () => {
    const abort = new AbortController()
    const sim = await simulator({ responder: scriptedResponder(["First words. ".repeat(200), "Second answer."]) })
    const agent = await agentFor(sim, project())
    const { end } = await ask(agent, "talk", {
      signal: abort.signal,
      watch: (event) => event.type === "text" && abort.abort(),
    })
    expect(end).toEqual({ reason: "aborted" })
    const again = await ask(agent, "and?")
    expect(again.end).toEqual({ reason: "answer", text: "Second answer." })
    const spoken: string[] = []
    for await (const entry of agent.conversation.entries())
      if (entry.type === "assistant") spoken.push(JSON.stringify(entry.message.content))
    expect(spoken[0]).toContain("First words.")
    expect(sim.log.every(({ status }) => status !== 400)).toBe(true)
  })
})

describe("LOOP-6 limits", () => {
  test("max turns ends with a clear event", async () => {
    const forever = Array.from({ length: 9 }, () => calls(["Read", { file_path: "a.txt" }]))
    const sim = await simulator({ responder: scriptedResponder(forever) })
    const agent = await agentFor(sim, project({ "a.txt": "x" }))
    const { end, events } = await ask(agent, "go", { maxTurns: 3 })
    expect(end).toEqual({ reason: "max-turns", limit: 3 })
    expect(events.at(-1)).toMatchObject({ type: "done", turns: 3 })
  })

  test("a cost limit ends with what was spent", async () => {
    const forever = Array.from({ length: 9 }, () => calls(["Read", { file_path: "a.txt" }]))
    const sim = await simulator({ responder: scriptedResponder(forever) })
    const agent = await agentFor(sim, project({ "a.txt": "x".repeat(5_000) }))
    const { end } = await ask(agent, "go", { costLimit: 0.018 })
    expect(end).toMatchObject({ reason: "cost-limit", limit: 0.018 })
    expect((end as { spent: number }).spent).toBeGreaterThan(0.01)
  })
})

test("LOOP-6 a cost limit says when the price of the model is unknown; a price in the settings counts", async () => {
  const responder = () => scriptedResponder([calls(["Read", { file_path: "a.txt" }]), "Done."])
  const named = { model: "claude-fable-5-2" }
  const limited = async (models: Settings["models"]) => {
    const sim = await simulator({ responder: responder() })
    const model = anthropicModel({ ...named, apiKey: KEY, baseURL: sim.url })
    const agent = await agentFor(sim, project({ "a.txt": "x" }), { model, settings: { models } })
    const { events, end } = await ask(agent, "go", { costLimit: 0.000001 })
    return { end: end.reason, notices: ofType(events, "notice").filter(({ message }) => message.includes("price")) }
  }
  expect(await limited({})).toMatchObject({
    end: "answer",
    notices: [
      { message: expect.stringContaining("The price of claude-fable-5-2 is unknown, so its requests do not count") },
    ],
  })
  const price = { input: 1, output: 1, cacheWrite5m: 1, cacheWrite1h: 1, cacheRead: 1 }
  expect(await limited({ "claude-fable-5-2": { price } })).toEqual({ end: "cost-limit", notices: [] })
})

describe("LOOP-7 a message typed while busy", () => {
  test("is preserved at once, delivered in order, exactly once, with the next request", async () => {
    const sim = await simulator({ responder: scriptedResponder([calls(["Read", { file_path: "a.txt" }]), "Heard."]) })
    const agent = await agentFor(sim, project({ "a.txt": "x" }))
    const { events } = await ask(agent, "go", {
      watch: async (event) => {
        if (event.type !== "tool-start") return
        await agent.enqueue("also b")
        await agent.enqueue("and c")
      },
    })
    expect(ofType(events, "user").map(({ text, queued }) => [text, queued])).toEqual([
      ["go", false],
      ["also b", true],
      ["and c", true],
    ])
    const request = await agent.conversation.prepare()
    const texts = JSON.stringify(request.messages).match(/also b|and c/g)
    expect(texts).toEqual(["also b", "and c"])
    expect(engineOf(agent.conversation).views.words.messages.map(({ text }) => text)).toEqual(["go", "also b", "and c"])
  })

  test("survives a crash: a new process delivers it", async () => {
    const where = project()
    const sim = await simulator({ responder: scriptedResponder(["One.", "Two."]) })
    const first = await agentFor(sim, where)
    await ask(first, "one")
    await first.enqueue("typed at the last moment")
    const { id } = first.conversation
    await first.conversation.close() // simulates that the process ends here

    const second = await agentFor(sim, where, { id, mustExist: true })
    const { events, end } = await ask(second, undefined)
    expect(ofType(events, "user")).toMatchObject([{ text: "typed at the last moment", queued: true }])
    expect(end).toEqual({ reason: "answer", text: "Two." })
    expect(engineOf(second.conversation).views.context.queued).toEqual([])
  })

  test("an answer is not the end while a message waits", async () => {
    const sim = await simulator({ responder: scriptedResponder(["First.", "Second."]) })
    const agent = await agentFor(sim, project())
    let typed = false
    const { end } = await ask(agent, "go", {
      watch: async (event) => {
        if (event.type !== "text" || typed) return
        typed = true
        await agent.enqueue("wait, one more thing")
      },
    })
    expect(end).toEqual({ reason: "answer", text: "Second." })
  })
})

describe("hooks and instructions in the loop", () => {
  test("HOOK-1 hooks see the session, the prompt, tools and the end, in order; the model learns of a block", async () => {
    const seen: string[] = []
    const hook = (
      event: "SessionStart" | "UserPromptSubmit" | "PreToolUse" | "PostToolUse" | "Stop" | "SessionEnd",
    ) => ({
      event,
      name: event,
      run: () => {
        seen.push(event)
        return event === "UserPromptSubmit" ? { context: "it is Friday" } : undefined
      },
    })
    const sim = await simulator({ responder: scriptedResponder([calls(["Read", { file_path: "a.txt" }]), "ok"]) })
    const agent = await agentFor(sim, project({ "a.txt": "x" }), {
      hooks: [
        hook("SessionStart"),
        hook("UserPromptSubmit"),
        hook("PreToolUse"),
        hook("PostToolUse"),
        hook("Stop"),
        hook("SessionEnd"),
      ],
    })
    await ask(agent, "go")
    const request = await agent.conversation.prepare()
    await agent.close()
    expect(seen).toEqual(["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"])
    expect(JSON.stringify(request.messages[0])).toContain("it is Friday")
  })

  test("NEST-1 instructions near a touched file are attached once; NEST-2 a change is attached again", async () => {
    const where = project({ "AGENTS.md": "Use tabs.", "lib/AGENTS.md": "No lodash.", "lib/a.txt": "x" })
    const sim = await simulator({
      responder: scriptedResponder([
        calls(["Read", { file_path: "lib/a.txt" }]),
        calls(["Bash", { command: "echo 'Use spaces.' > AGENTS.md" }]),
        calls(["Read", { file_path: "lib/a.txt", limit: 1 }]),
        "ok",
      ]),
    })
    const agent = await agentFor(sim, where, { mode: "bypass" })
    const { events } = await ask(agent, "go")
    expect(ofType(events, "attached").map(({ about }) => about.replace(`${where.cwd}/`, ""))).toEqual([
      "lib/AGENTS.md",
      "AGENTS.md",
    ])
    const text = JSON.stringify((await agent.conversation.prepare()).messages)
    expect(text.match(/Use tabs\./g)).toHaveLength(1)
    expect(text.match(/No lodash\./g)).toHaveLength(1)
    expect(text.match(/Use spaces\./g)!.length).toBeGreaterThanOrEqual(1)
  })
})

test("JRN-2 a conversation continues in a new agent with the same bytes", async () => {
  const where = project({ "a.txt": "x" })
  const sim = await simulator({
    responder: scriptedResponder([calls(["Read", { file_path: "a.txt" }]), "One.", "Two."]),
  })
  const first = await agentFor(sim, where)
  await ask(first, "one")
  const { id } = first.conversation
  await first.close()
  writeFileSync(join(where.cwd, "a.txt"), "y")
  const second = await agentFor(sim, where, { id, mustExist: true })
  const { end } = await ask(second, "two")
  expect(end).toEqual({ reason: "answer", text: "Two." })
  const last = sim.log.at(-1)!
  expect(last.input?.read).toBeGreaterThan(0)
})
