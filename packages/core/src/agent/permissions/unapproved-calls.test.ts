/** Calls that run without approval, and that their tools know it. Real commands, real rules. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import * as z from "zod/v4"
import { needs } from "../../../test/needs.ts"
import { ask, calling, scene } from "../../../test/scripted-agent.ts"
import { defineTool } from "../../tools/define-tool.ts"
import type { SingleAgentOptions } from "../options.ts"
import { codingTools } from "../tools/toolsets.ts"

/** A command that detects the sandbox, where `/proc/1` is the sandbox's own first process. */
const WHERE = "cat /proc/1/cmdline"
const RULES = { allow: ["Read(/proc/**)"] }

async function whereItRan(options: Partial<SingleAgentOptions> = {}, command = WHERE): Promise<"inside" | "outside"> {
  const { open, requests } = scene()
  const settings = { permissions: RULES, ...options.settings }
  const agent = await open([calling("Bash", { command }), "Done."], {
    ...{ tools: codingTools(), env: { PATH: process.env.PATH } },
    ...{ askPermission: () => ({ allowed: true }), ...options, settings },
  })
  await ask(agent, "go")
  return /bwrap/.test(JSON.stringify(requests.at(-1)!.messages)) ? "inside" : "outside"
}

test("PERM-8 a command runs inside if no one approved it, and outside if someone did", needs("sandbox"), async () => {
  expect(await whereItRan()).toBe("inside")
  expect(await whereItRan({ mode: "plan" })).toBe("inside")
  expect(await whereItRan({ mode: "accept-edits" })).toBe("inside")
  expect(await whereItRan({ mode: "bypass" })).toBe("outside")
  expect(await whereItRan({ settings: { permissions: { allow: ["Bash(cat:*)"] } } })).toBe("outside")
  expect(await whereItRan({ settings: { permissions: { ask: ["Bash(cat:*)"] } } })).toBe("outside")
  expect(await whereItRan({}, `${WHERE}; touch made`)).toBe("outside")
  const approvingHook = { event: "PreToolUse" as const, name: "yes", run: () => ({ permission: "allow" as const }) }
  expect(await whereItRan({ hooks: [approvingHook] })).toBe("outside")
})

test("PERM-8 the setting sandbox decides: off, unasked, all", needs("sandbox"), async () => {
  const command = `${WHERE}; touch made`
  expect(await whereItRan({ settings: { permissions: RULES, sandbox: "off" } })).toBe("outside")
  expect(await whereItRan({ settings: { permissions: RULES, sandbox: "all" } })).toBe("inside")
  expect(await whereItRan({ settings: { permissions: RULES, sandbox: "all" } }, command)).toBe("inside")
  expect(await whereItRan({ settings: { permissions: RULES } }, command)).toBe("outside")
})

test("PERM-8 the person's own command runs outside, also where all others do not", needs("sandbox"), async () => {
  const { open, cwd } = scene()
  const agent = await open([], { tools: codingTools(), env: { PATH: process.env.PATH }, settings: { sandbox: "all" } })
  const { content } = await agent.runCommand({
    ...{ command: `${WHERE}; touch ${join(cwd, "..", "by-the-person")}`, progress: () => undefined },
    signal: new AbortController().signal,
  })
  expect(content).not.toContain("bwrap")
})

test("PERM-8 a command in the background is asked about, also if it only reads", async () => {
  const { open, cwd } = scene()
  writeFileSync(join(cwd, "log"), "one\n")
  const asked: string[] = []
  const input = { command: "tail -f log", run_in_background: true }
  const agent = await open([calling("Bash", input), "Done."], {
    tools: codingTools(),
    env: { PATH: process.env.PATH },
    askPermission: ({ question }) => {
      asked.push(question.summary)
      return { allowed: false }
    },
  })
  await ask(agent, "go")
  expect(asked).toEqual(["tail -f log"])
})

test("PERM-8 a tool of yours knows whether someone approved", async () => {
  const seen: Record<string, boolean>[] = []
  const tool = (name: string, needsApproval: boolean) =>
    defineTool({
      ...{ name, description: "Looks.", inputSchema: z.object({}), needsApproval },
      execute: (_, { unapproved }) => {
        seen.push({ [name]: unapproved === true })
        return "ok"
      },
    })
  const { open } = scene()
  const agent = await open([calling("Free"), calling("Careful"), "Done."], {
    tools: [tool("Free", false), tool("Careful", true)],
    askPermission: () => ({ allowed: true }),
  })
  await ask(agent, "go")
  expect(seen).toEqual([{ Free: true }, { Careful: false }])
})

test("PERM-4 a call runs in the directory it was judged in, also if a call next to it left that directory", async () => {
  const { open, cwd, requests } = scene()
  mkdirSync(join(cwd, "below"))
  let left = () => {}
  const moved = new Promise<void>((resolve) => {
    left = resolve
  })
  const parallelCalls = [...calling("Bash", { command: "cd below" }), ...calling("Bash", { command: "pwd" })]
  const agent = await open([parallelCalls, calling("Bash", { command: "pwd -L" }), "Done."], {
    ...{ tools: codingTools(), env: { PATH: process.env.PATH }, settings: { permissions: { ask: ["Bash(pwd)"] } } },
    askPermission: () => moved.then(() => ({ allowed: true })), // the user answers after the first call has ended
  })
  for await (const event of agent.query("go")) if (event.type === "tool-result") left()
  const results = requests.map(({ messages }) => JSON.stringify(messages.at(-1)))
  expect(results[1]).toContain(JSON.stringify(cwd))
  expect(results[1]).not.toContain(join(cwd, "below"))
  expect(results[2]).toContain(join(cwd, "below"))
})
