/** The agent and its loop with an in-process model. Real files and tools; `test/integration/agent` adds the SDK and HTTP. */
import { realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { scratchDirectory } from "../../test/tool-context.ts"
import { manualClock } from "../base/clock.ts"
import { engineOf } from "../conversation/conversation.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { textOf } from "../messages/blocks.ts"
import { isFromUser, isSyntheticError } from "../messages/messages.ts"
import { ConnectionLostError } from "../model/errors.ts"
import type { Model, ModelEvent } from "../model/model.ts"
import { findModel } from "../tokens/models.ts"
import { read } from "../tools/files/read.ts"
import { FileReads } from "../tools/files/read-state.ts"
import type { Tool, Toolset } from "../tools/tool.ts"
import type { Agent } from "./agent.ts"
import type { Hook, HookInput } from "./hooks/hooks.ts"
import type { QueryEvent } from "./loop/query-events.ts"
import { openAgent } from "./open-agent.ts"
import type { SingleAgentOptions } from "./options.ts"

const MODEL = "claude-opus-4-6"

/** Events that the model streams, or the error that it throws. */
type Turn = readonly (ModelEvent | Error)[]

let answers = 0
function answer(content: readonly unknown[], stop_reason: string): ModelEvent {
  const usage = { input_tokens: 1_000, output_tokens: 10 }
  return { type: "response", response: { id: `msg_${answers++}`, model: MODEL, content, stop_reason, usage } }
}
const says = (text: string, stopReason = "end_turn"): Turn => [answer([{ type: "text", text }], stopReason)]
const calls = (name: string, input: object = {}): Turn => [
  answer([{ type: "tool_use", id: `toolu_${answers}`, name, input }], "tool_use"),
]

function scripted(turns: readonly Turn[], name = MODEL): Model {
  const left = [...turns]
  return {
    name,
    provider: "test",
    facts: findModel(name).facts,
    async *stream() {
      for (const step of left.shift() ?? says("Done.")) {
        if (step instanceof Error) throw step
        yield step.type === "response" ? { ...step, response: { ...step.response, model: name } } : step
      }
    },
  }
}

async function agentWith(turns: readonly Turn[], options: Partial<SingleAgentOptions> = {}): Promise<Agent> {
  const root = realpathSync(scratchDirectory())
  const agent = await openAgent({
    model: scripted(turns),
    cwd: root,
    dir: join(root, "home"),
    env: {},
    store: memoryStore(),
    ...options,
  })
  onTestFinished(() => agent.close())
  return agent
}

async function eventsOf(agent: Agent, prompt = "go"): Promise<QueryEvent[]> {
  const events: QueryEvent[] = []
  for await (const event of agent.query(prompt, { maxTurns: 10 })) {
    if (event.type === "error") event.take()
    events.push(event)
  }
  return events
}

const ofType = <T extends QueryEvent["type"]>(events: readonly QueryEvent[], type: T) =>
  events.filter((event): event is Extract<QueryEvent, { type: T }> => event.type === type)

const tool = (more: Partial<Tool> = {}): Tool => ({
  name: "Work",
  description: "Works.",
  inputSchema: {},
  execute: () => "worked",
  ...more,
})

/** Creates a hook for an event, and records its inputs. */
function watching(event: Hook["event"], more: Partial<Hook> = {}): { hook: Hook; given: HookInput[] } {
  const given: HookInput[] = []
  const run = (input: HookInput) => {
    given.push(input)
    return undefined
  }
  return { hook: { event, name: "watch", run, ...more }, given }
}

describe("ask", () => {
  test("says what it cost only where the price is known", async () => {
    expect(await (await agentWith([says("Yes.")])).ask("go")).toEqual({
      text: "Yes.",
      turns: 1,
      cost: expect.closeTo(0.00525, 6),
    })
    const unpriced = await agentWith([], { model: scripted([says("Yes.")], "someone-else") })
    expect(await unpriced.ask("go")).toEqual({ text: "Yes.", turns: 1 })
  })

  test("LOOP-4 that is aborted rejects with the reason of the abort", async () => {
    const agent = await agentWith([])
    const reason = new Error("enough")
    await expect(agent.ask("go", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})

describe("LOOP-1 a query", () => {
  test("asks an answer that was cut at the output limit to continue, three times at most", async () => {
    const cut = (text: string) => says(text, "max_tokens")
    const agent = await agentWith([cut("a"), cut("b"), cut("c"), cut("d"), says("never")])
    const events = await eventsOf(agent)
    const notices = ofType(events, "notice").map(({ message }) => message)
    expect(notices.filter((message) => /asked to continue/.test(message))).toHaveLength(3)
    expect(notices.at(-1)).toMatch(/^The response was cut/)
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "answer", text: "d", turns: 4 })
  })

  test("LOOP-5 keeps what was streamed before a failure, but nothing of an attempt that was repeated", async () => {
    const streamed: Turn = [
      { type: "text", text: "first try" },
      { type: "retry", attempt: 2, delayMs: 0, reason: "overloaded" },
      { type: "text", text: "second try" },
      new ConnectionLostError({ provider: "test" }),
    ]
    const agent = await agentWith([streamed])
    expect((await eventsOf(agent)).at(-1)).toMatchObject({ type: "done", reason: "error" })
    const last = engineOf(agent.conversation).views.context.lastResponse!
    expect(isSyntheticError(last)).toBe(false)
    expect(textOf(last.message.content)).toBe("second try")
  })

  test("HOOK-1 a Stop hook may ask for more, and learns that it already did", async () => {
    const active: unknown[] = []
    const hook: Hook = {
      event: "Stop",
      name: "more",
      run: ({ stop_hook_active }) => {
        active.push(stop_hook_active)
        return stop_hook_active ? undefined : { block: "Check it again." }
      },
    }
    const agent = await agentWith([says("One."), says("Two.")], { hooks: [hook] })
    expect((await eventsOf(agent)).at(-1)).toMatchObject({ reason: "answer", text: "Two." })
    expect(active).toEqual([false, true])
    const asked = engineOf(agent.conversation)
      .views.context.storedMessages()
      .filter(({ type }) => type === "user")
    expect(asked.map(isFromUser)).toEqual([true, false]) // the hook's text is not the user's
  })
})

describe("PERM-1 a call", () => {
  test("is refused where its files changed while someone decided", async () => {
    const paths = [["/a"], ["/b"]]
    const moving = tool({ question: () => ({ kind: "write", summary: "write", paths: paths.shift()! }) })
    const agent = await agentWith([calls("Work")], {
      tools: [moving],
      askPermission: async () => ({ allowed: true }),
    })
    expect(ofType(await eventsOf(agent), "tool-denied")).toMatchObject([
      { why: expect.stringMatching(/^the files it/) },
    ])
  })

  test("takes the time of its tool, not of the person who decides", async () => {
    const clock = manualClock()
    const agent = await agentWith([calls("Work")], {
      clock,
      tools: [tool({ needsApproval: true, execute: () => void clock.advance(20) })],
      askPermission: async () => {
        clock.advance(60_000)
        return { allowed: true }
      },
    })
    expect(ofType(await eventsOf(agent), "tool-result")).toMatchObject([{ ms: 20 }])
  })

  test("asks where there is someone to ask; otherwise edits of the project are accepted", async () => {
    expect((await agentWith([])).mode).toBe("accept-edits")
    expect((await agentWith([], { askPermission: async () => ({ allowed: true }) })).mode).toBe("ask")
    expect((await agentWith([], { settings: { permissions: { mode: "plan" } } })).mode).toBe("plan")
  })
})

test("a file that a hook replaced in the result does not count as read", async () => {
  const cwd = realpathSync(scratchDirectory())
  const file = join(cwd, "a.txt")
  writeFileSync(file, "text")
  const hidden: Hook = { event: "PostToolUse", name: "hide", matcher: "Read", run: () => ({ output: "hidden" }) }
  for (const [hooks, isRead] of [
    [[], true],
    [[hidden], false],
  ] as const) {
    const reads = new FileReads()
    const agent = await agentWith([calls("Read", { file_path: file })], { tools: [read], reads, cwd, hooks })
    await eventsOf(agent)
    expect(reads.get(file) !== undefined).toBe(isRead)
  }
})

describe("opening an agent", () => {
  const introducing = (closed: string[] = []): Toolset => {
    const set: Toolset = {
      open: async () => ({
        tools: [tool()],
        introductions: [{ type: "mcp_instructions", server: "s", instructions: "Say please." }],
        close: async () => void closed.push("closed"),
      }),
      *[Symbol.iterator]() {
        yield set
      },
    }
    return set
  }

  test("introduces its tools once: not again when the conversation is resumed", async () => {
    const store = memoryStore()
    const cwd = realpathSync(scratchDirectory())
    for (const _ of [1, 2]) {
      const agent = await agentWith([], { store, cwd, id: "one", tools: introducing() })
      await agent.ask("go")
      const introduced = engineOf(agent.conversation)
        .views.context.storedMessages()
        .filter((message) => message.type === "attachment" && message.attachment.type === "mcp_instructions")
      expect(introduced).toHaveLength(1)
      await agent.close()
    }
  })

  test("closes the tools again where the conversation cannot be opened", async () => {
    const closed: string[] = []
    const opening = agentWith([], { id: "nowhere", mustExist: true, tools: introducing(closed) })
    await expect(opening).rejects.toThrow(/no conversation nowhere/)
    expect(closed).toEqual(["closed"])
  })

  test("PERM-1 layers may read files of the project that no rule denies, and no others, whatever the rules allow", async () => {
    let mayRead: ((path: string) => boolean) | undefined
    const cwd = realpathSync(scratchDirectory())
    await agentWith([], {
      cwd,
      settings: { permissions: { allow: ["Read"], deny: ["Read(**/secret.txt)"] } },
      makeLayers: (surroundings) => {
        mayRead = surroundings.mayRead
        return []
      },
    })
    const paths = [join(cwd, "a.txt"), join(cwd, "secret.txt"), "/etc/passwd"]
    expect(paths.map((path) => mayRead!(path))).toEqual([true, false, false])
  })

  test("HOOK-1 a matcher of SessionStart is compared with how the session started", async () => {
    const startup = watching("SessionStart", { matcher: "startup" })
    const resumed = watching("SessionStart", { matcher: "resume" })
    const { conversation } = await agentWith([], { hooks: [startup.hook, resumed.hook] })
    expect(startup.given).toMatchObject([
      { source: "startup", session_id: conversation.id, transcript_path: conversation.location },
    ])
    expect(resumed.given).toEqual([])
  })
})
