/** Hooks on tool calls in an agent: real shell commands as hooks, a real Bash, a scripted model. */
import { chmodSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { allEnded, pidsIn } from "../../../test/processes.ts"
import { everyNth, isWhole } from "../../../test/size.ts"
import { scratchDirectory } from "../../../test/tool-context.ts"
import type { HookEvent } from "../../base/enums.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import type { Model } from "../../model/model.ts"
import type { SettingsInput } from "../../settings/settings.ts"
import { findModel } from "../../tokens/models.ts"
import { defineTool } from "../../tools/define-tool.ts"
import type { Agent } from "../agent.ts"
import type { QueryEvent } from "../loop/query-events.ts"
import { openAgent } from "../open-agent.ts"
import type { SingleAgentOptions } from "../options.ts"
import type { PermissionRequest } from "../permissions/authorize-call.ts"
import { fileTools, openShellTools } from "../tools/coding-tools.ts"
import type { Hook } from "./hooks.ts"

type Call = readonly [tool: string, input: object]

/** A model that makes the calls of each turn, then answers "Done.". */
function calling(turns: readonly (readonly Call[])[]): Model {
  const name = "claude-opus-4-6"
  const left = [...turns]
  let count = 0
  return {
    name,
    provider: "test",
    facts: findModel(name).facts,
    async *stream() {
      const calls = left.shift() ?? []
      const uses = calls.map(([tool, input]) => ({ type: "tool_use", id: `toolu_${count++}`, name: tool, input }))
      const content = uses.length > 0 ? uses : [{ type: "text", text: "Done." }]
      const stop_reason = uses.length > 0 ? "tool_use" : "end_turn"
      const usage = { input_tokens: 1_000, output_tokens: 10 }
      yield { type: "response", response: { id: `msg_${count++}`, model: name, content, stop_reason, usage } }
    },
  }
}

interface Scene {
  readonly calls?: readonly Call[]
  readonly turns?: readonly (readonly Call[])[]
  readonly options?: Partial<SingleAgentOptions>
  readonly settings?: SettingsInput
  readonly cwd?: string
}

async function open({ calls = [], turns = [calls], options = {}, settings = {}, cwd = project() }: Scene) {
  const shell = openShellTools()
  const agent = await openAgent({
    model: calling(turns),
    cwd,
    dir: join(cwd, "..", "home"),
    env: { PATH: process.env.PATH },
    store: memoryStore(),
    tools: [...fileTools, ...shell.tools],
    settings,
    ...options,
  })
  onTestFinished(async () => {
    await agent.close()
    await shell.close()
  })
  return agent
}

function project(): string {
  const path = join(realpathSync(scratchDirectory()), "project")
  mkdirSync(path)
  return path
}

async function eventsOf(agent: Agent, signal?: AbortSignal): Promise<readonly QueryEvent[]> {
  const events: QueryEvent[] = []
  for await (const event of agent.query("go", signal ? { signal } : {})) events.push(event)
  return events
}

const ofType = <T extends QueryEvent["type"]>(events: readonly QueryEvent[], type: T) =>
  events.filter((event): event is Extract<QueryEvent, { type: T }> => event.type === type)
const resultsIn = (events: readonly QueryEvent[]) =>
  ofType(events, "tool-result").map(({ result }) => String(result.content))
const noticesIn = (events: readonly QueryEvent[]) => ofType(events, "notice").map(({ message }) => message)

/** Settings with a hook that prints this answer. */
const printing = (event: HookEvent, answer: object, cwd: string): SettingsInput => {
  writeFileSync(join(cwd, `${event}.json`), JSON.stringify(answer))
  return { hooks: { [event]: [{ command: `cat ${join(cwd, `${event}.json`)}` }] } }
}
const rewriting = (updatedInput: unknown, cwd: string, more: object = { permissionDecision: "allow" }) =>
  printing("PreToolUse", { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput, ...more } }, cwd)

describe("HOOK-2 a hook that changes the input of a call", () => {
  test("what runs is what it wrote; the person sees it, the model learns of it, the journal keeps the model's call", async () => {
    const cwd = project()
    const settings = rewriting({ command: "touch instead" }, cwd)
    const agent = await open({
      cwd,
      settings,
      calls: [["Bash", { command: "touch original" }]],
      options: { mode: "ask" },
    })
    const events = await eventsOf(agent)
    expect([existsSync(join(cwd, "original")), existsSync(join(cwd, "instead"))]).toEqual([false, true])
    expect(ofType(events, "tool-start")[0]).toMatchObject({
      input: { command: "touch instead" },
      summary: "touch instead",
    })
    expect(noticesIn(events)[0]).toMatch(/changed the input of Bash: touch instead$/)
    const { messages } = await agent.conversation.prepare()
    expect(JSON.stringify(messages)).toContain(
      'It replaced the input of your Bash call. This input was used: {\\"command\\":\\"touch instead\\"}',
    )
    expect(JSON.stringify(messages)).toContain('"input":{"command":"touch original"}')
  })

  test("PERM-1 the rules judge what it wrote: a denial holds over its permission", async () => {
    const cwd = project()
    const settings = { ...rewriting({ command: "touch instead" }, cwd), permissions: { deny: ["Bash(touch instead)"] } }
    const events = await eventsOf(await open({ cwd, settings, calls: [["Bash", { command: "echo original" }]] }))
    expect(resultsIn(events)[0]).toContain('the rule "Bash(touch instead)" forbids it')
    expect([existsSync(join(cwd, "original")), existsSync(join(cwd, "instead"))]).toEqual([false, false])
  })

  test("PERM-1 without a permission of its own, the person is asked about what it wrote", async () => {
    const cwd = project()
    const asked: PermissionRequest[] = []
    const askPermission = (request: PermissionRequest) => {
      asked.push(request)
      return { allowed: true } as const
    }
    const settings = rewriting({ command: "touch instead" }, cwd, {})
    await eventsOf(
      await open({ cwd, settings, calls: [["Bash", { command: "touch original" }]], options: { askPermission } }),
    )
    expect(asked.map(({ question }) => question.summary)).toEqual(["touch instead"])
    expect(existsSync(join(cwd, "instead"))).toBe(true)
  })

  test.each([[{ cmd: "touch instead" }], ["touch instead"], [7], [[]]])(
    "an input that does not fit the tool (%j) runs nothing, not the original either",
    async (updatedInput) => {
      const cwd = project()
      const settings = rewriting(updatedInput, cwd)
      const agent = await open({
        cwd,
        settings,
        calls: [["Bash", { command: "touch original" }]],
        options: { mode: "bypass" },
      })
      expect(resultsIn(await eventsOf(agent))[0]).toMatch(/gave it an input that does not fit/)
      expect(existsSync(join(cwd, "original"))).toBe(false)
    },
  )

  test("PERM-2, PERM-5 its permission opens neither files that decide what runs, nor those of Strata, nor a rule that asks", async () => {
    for (const [file_path, ask] of [
      [".git/config", []],
      ["../home/x.jsonl", []],
      ["plain.txt", ["Write"]],
    ] as [string, string[]][]) {
      const cwd = project()
      mkdirSync(join(cwd, "..", "home"))
      const settings = { ...rewriting({ file_path: join(cwd, file_path), content: "x" }, cwd), permissions: { ask } }
      const calls: Call[] = [["Write", { file_path: join(cwd, "other.txt"), content: "x" }]]
      const events = await eventsOf(await open({ cwd, settings, calls, options: { mode: "ask" } }))
      expect(ofType(events, "tool-denied")).toHaveLength(1)
      expect([existsSync(join(cwd, file_path)), existsSync(join(cwd, "other.txt"))]).toEqual([false, false])
    }
  })

  test("one that changes its input in place changes nothing that was judged", async () => {
    const cwd = project()
    const hook: Hook = {
      event: "PreToolUse",
      run: ({ tool_input }) => {
        ;(tool_input as { command: string }).command = "touch instead"
        return { permission: "allow" }
      },
    }
    await eventsOf(await open({ cwd, calls: [["Bash", { command: "touch original" }]], options: { hooks: [hook] } }))
    expect([existsSync(join(cwd, "original")), existsSync(join(cwd, "instead"))]).toEqual([true, false])
  })

  test("on PermissionRequest too; what it wrote is judged again", async () => {
    const cwd = project()
    const decision = { behavior: "allow", updatedInput: { command: "touch instead" } }
    const settings = printing("PermissionRequest", { hookSpecificOutput: { decision } }, cwd)
    const calls: Call[] = [["Bash", { command: "touch original" }]]
    await eventsOf(await open({ cwd, settings, calls, options: { mode: "ask" } }))
    expect([existsSync(join(cwd, "original")), existsSync(join(cwd, "instead"))]).toEqual([false, true])
    const denied = { ...settings, permissions: { deny: ["Bash(touch instead)"] } }
    const events = await eventsOf(await open({ cwd, settings: denied, calls, options: { mode: "ask" } }))
    expect(resultsIn(events)[0]).toContain("forbids it")
  })
})

describe("HOOK-2 the reason of a decision", () => {
  const decided = (permissionDecision: string, cwd: string) =>
    printing(
      "PreToolUse",
      { hookSpecificOutput: { permissionDecision, permissionDecisionReason: "use pnpm here" } },
      cwd,
    )

  test("reaches the model with a denial, and with a question that there is no one to ask", async () => {
    for (const [decision, text] of [
      ["deny", "Not allowed: a hook forbids it: use pnpm here"],
      ["ask", "Not allowed: use pnpm here, and there is no one to ask"],
    ] as const) {
      const cwd = project()
      const settings = decided(decision, cwd)
      const events = await eventsOf(await open({ cwd, settings, calls: [["Bash", { command: "echo hi" }]] }))
      expect(resultsIn(events)).toEqual([text])
    }
  })

  test("reaches the person with a question", async () => {
    const cwd = project()
    const asked: PermissionRequest[] = []
    const askPermission = (request: PermissionRequest) => {
      asked.push(request)
      return { allowed: false } as const
    }
    const settings = decided("ask", cwd)
    await eventsOf(await open({ cwd, settings, calls: [["Bash", { command: "echo hi" }]], options: { askPermission } }))
    expect(asked.map(({ why }) => why)).toEqual(["use pnpm here"])
  })
})

describe("HOOK-2 continue: false ends the query", () => {
  const stopping = (event: HookEvent, cwd: string) =>
    printing(event, { continue: false, stopReason: "budget spent" }, cwd)
  const two: Call[] = [
    ["Bash", { command: "touch first" }],
    ["Bash", { command: "touch second" }],
  ]

  test.each([
    ["UserPromptSubmit", [], 0],
    ["PreToolUse", [], 1],
    ["PostToolUse", ["first"], 1],
  ] as const)("after %s; every call has its result, and the conversation can continue", async (event, ran, turns) => {
    const cwd = project()
    const agent = await open({ cwd, settings: stopping(event, cwd), calls: two, options: { mode: "bypass" } })
    const events = await eventsOf(agent)
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "stopped-by-hook", why: "budget spent", turns })
    expect(["first", "second"].filter((name) => existsSync(join(cwd, name)))).toEqual(ran)
    expect(ofType(events, "tool-result")).toHaveLength(turns === 0 ? 0 : 2)
    await agent.conversation.add({ role: "user", content: "go on" })
    await agent.conversation.prepare()
  })

  test("after SessionStart no query works, and the reason is shown", async () => {
    const cwd = project()
    const agent = await open({ cwd, settings: stopping("SessionStart", cwd), calls: two, options: { mode: "bypass" } })
    expect(agent.problems).toEqual(["A hook says: budget spent"])
    expect((await eventsOf(agent)).map(({ type }) => type)).toEqual(["done"])
  })

  test("after Stop the answer stays an answer", async () => {
    const cwd = project()
    const answer = { continue: false, stopReason: "budget spent", decision: "block", reason: "more" }
    const events = await eventsOf(await open({ cwd, settings: printing("Stop", answer, cwd) }))
    expect(noticesIn(events)).toEqual(["A hook ends the work: budget spent"])
    expect(events.at(-1)).toMatchObject({ reason: "answer", text: "Done.", turns: 1 })
  })
})

describe("HOOK-2 a hook that fails is reported", () => {
  test.each([
    ["exit 3", /"exit 3" failed and was skipped: exit code 3/],
    ["/no/such/program", /exit code 127: .*not found/],
    ["./not-executable", /exit code 126/],
    ["sleep 60", /longer than 0.2 s/],
    ["echo wrong >&2; exit 2", /^A hook says: wrong$/],
  ])("at the start: %s", async (command, message) => {
    const cwd = project()
    writeFileSync(join(cwd, "not-executable"), "")
    chmodSync(join(cwd, "not-executable"), 0o600)
    const timeoutSeconds = command === "sleep 60" ? 0.2 : 600
    const agent = await open({ cwd, settings: { hooks: { SessionStart: [{ command, timeoutSeconds }] } } })
    expect(agent.problems).toHaveLength(1)
    expect(agent.problems[0]).toMatch(message)
  })

  test.each(everyNth(["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"] as const, 3, 1))(
    "during a query, and the work goes on: %s",
    async (event) => {
      const settings = { hooks: { [event]: [{ command: "exit 3" }] } }
      const askPermission = () => ({ allowed: true }) as const
      const calls: Call[] = [["Bash", { command: "touch x" }]]
      const events = await eventsOf(await open({ settings, calls, options: { askPermission } }))
      expect(noticesIn(events)).toEqual(['The hook "exit 3" failed and was skipped: exit code 3'])
      expect(events.at(-1)).toMatchObject({ reason: "answer" })
    },
  )
})

describe("LOOP-8 hooks end with what they belong to", () => {
  const slow = (file: string) => `echo $$ >> ${file}; sleep 60 & echo $! >> ${file}; wait`

  test.each(everyNth(["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"] as const, 4))(
    "an abort ends a hook for %s, and the query",
    async (event) => {
      const cwd = project()
      const file = join(cwd, "pids")
      const abort = new AbortController()
      const settings = { hooks: { [event]: [{ command: slow(file) }] } }
      const agent = await open({ cwd, settings, calls: [["Bash", { command: "true" }]], options: { mode: "bypass" } })
      const events = eventsOf(agent, abort.signal)
      const pids = await pidsIn(file, 2)
      abort.abort()
      expect((await events).at(-1)).toMatchObject({ type: "done", reason: "aborted" })
      await allEnded(pids)
    },
  )

  test("closing the agent ends them", async () => {
    const cwd = project()
    const file = join(cwd, "pids")
    const settings = { hooks: { PreToolUse: [{ command: slow(file) }] } }
    const agent = await open({ cwd, settings, calls: [["Bash", { command: "true" }]] })
    const events = eventsOf(agent)
    const pids = await pidsIn(file, 2)
    await agent.close()
    await allEnded(pids)
    expect((await events).at(-1)).toMatchObject({ reason: "aborted" })
  })
})

test.runIf(isWhole)("a call that a hook turns into a change runs alone among its kind", async () => {
  const cwd = project()
  const log: string[] = []
  const tool = defineTool({
    name: "Work",
    description: "Works.",
    inputSchema: z.object({ change: z.boolean() }),
    readOnly: ({ change }) => !change,
    execute: async () => {
      log.push("in")
      await new Promise((resolve) => setImmediate(resolve))
      log.push("out")
      return "worked"
    },
  })
  const calls: Call[] = [
    ["Work", { change: false }],
    ["Work", { change: false }],
  ]
  await eventsOf(await open({ calls, options: { tools: [tool] } }))
  expect(log.splice(0)).toEqual(["in", "in", "out", "out"])
  await eventsOf(await open({ cwd, calls, settings: rewriting({ change: true }, cwd), options: { tools: [tool] } }))
  expect(log).toEqual(["in", "out", "in", "out"])
})
