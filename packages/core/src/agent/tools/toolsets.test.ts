import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { isWhole } from "../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { defineTool } from "../../tools/define-tool.ts"
import type { Tool, Toolset, ToolsetContext } from "../../tools/tool.ts"
import { codingTools, mcpServers, openTools } from "./toolsets.ts"

const named = (name: string): Tool => defineTool({ name, description: "", inputSchema: {}, execute: () => name })
const weather = named("weather")
const program = join(import.meta.dirname, "../../../test/mcp-server.ts")

const CODING = [
  ...[
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Bash",
    "BashOutput",
    "KillShell",
    "WebFetch",
    "TodoWrite",
  ],
  ...["EnterPlanMode", "ExitPlanMode", "AskUser"],
]

async function open(
  tools: Toolset | readonly (Tool | Toolset)[],
  { cwd = scratchDirectory(), root = scratchDirectory(), ...more }: Partial<ToolsetContext> = {},
) {
  const opened = await openTools(tools, { cwd, root, ...more })
  onTestFinished(() => opened.close())
  return { ...opened, names: opened.tools.map(({ name }) => name) }
}

/** Creates a toolset that logs its use. */
function watched(log: string[], tools: readonly Tool[] | Error): Toolset {
  const set: Toolset = {
    async open() {
      if (tools instanceof Error) throw tools
      log.push("open")
      return { tools, close: async () => void log.push("close") }
    },
    *[Symbol.iterator]() {
      yield set
    },
  }
  return set
}

describe("coding tools", () => {
  test("work alone, in a list and spread into one, always in the same order", async () => {
    expect((await open(codingTools())).names).toEqual(CODING)
    expect((await open([codingTools(), weather])).names).toEqual([...CODING, "weather"])
    expect((await open([...codingTools(), weather])).names).toEqual([...CODING, "weather"])
  })

  test("PERM-3 bring the project's skills as far as they are trusted, and say which cannot be used", async () => {
    const cwd = scratchDirectory()
    for (const name of ["deploy", "broken"]) mkdirSync(join(cwd, ".strata", "skills", name), { recursive: true })
    writeFileSync(join(cwd, ".strata/skills/deploy/SKILL.md"), "---\ndescription: How to deploy.\n---\nPush.")
    mkdirSync(join(cwd, ".strata/skills/broken/SKILL.md"))
    const untrusted = await open(codingTools(), { cwd })
    expect(untrusted.names).not.toContain("Skill")
    expect(untrusted.introductions).toEqual([])
    const path = realpathSync(join(cwd, ".strata/skills/deploy/SKILL.md"))
    const changed = new Map([[path, "Something else."]])
    expect((await open(codingTools(), { cwd, trustedSkills: changed })).introductions).toEqual([])
    const trustedSkills = new Map([[path, readFileSync(path, "utf8")]])
    const { names, introductions, problems } = await open(codingTools(), { cwd, trustedSkills })
    expect(names).toContain("Skill")
    expect(introductions).toEqual([
      { type: "skill_listing", skills: [{ name: "deploy", description: "How to deploy." }] },
    ])
    expect(problems).toEqual([expect.stringMatching(/^The skill .*broken.* cannot be used: /)])
  })

  test("PERM-3 a project's skill does not replace your own of the same name", async () => {
    const [cwd, root] = [scratchDirectory(), scratchDirectory()]
    const skillIn = (directory: string, description: string) => {
      mkdirSync(join(directory, "skills/deploy"), { recursive: true })
      writeFileSync(join(directory, "skills/deploy/SKILL.md"), `---\ndescription: ${description}\n---\nPush.`)
    }
    skillIn(root, "Mine.")
    skillIn(join(cwd, ".strata"), "The project's.")
    const { introductions } = await open(codingTools(), { cwd, root })
    expect(introductions).toEqual([{ type: "skill_listing", skills: [{ name: "deploy", description: "Mine." }] }])
  })

  test("end their commands when they are closed", async () => {
    const { tools, close } = await open(codingTools())
    const bash = tools.find(({ name }) => name === "Bash")!
    const started = Promise.withResolvers<void>()
    const running = call(bash, { command: "echo go; sleep 60" }, testContext({ progress: () => started.resolve() }))
    await started.promise
    await close()
    expect(textIn(await running)).toMatch(/^The conversation was closed\./)
  })
})

test.runIf(isWhole)("MCP servers are a toolset: one that does not start is a problem, not an error", async () => {
  const servers = mcpServers({
    test: { command: process.execPath, args: [program] },
    broken: { command: process.execPath, args: [program, "broken"] },
  })
  const { names, introductions, problems } = await open([weather, servers])
  expect(names.slice(0, 2)).toEqual(["weather", expect.stringMatching(/^mcp__test__/)])
  expect(introductions).toEqual([{ type: "mcp_instructions", server: "test", instructions: "Say please." }])
  expect(problems).toEqual([expect.stringMatching(/^The MCP server broken is not available: .*no configuration found/)])
})

describe("opening tools", () => {
  test("closes what was opened if something else fails", async () => {
    const log: string[] = []
    await expect(open([watched(log, [weather]), watched(log, new Error("no server"))])).rejects.toThrow("no server")
    expect(log).toEqual(["open", "close"])
  })

  test("names a tool that is there twice, and closes everything", async () => {
    const log: string[] = []
    await expect(open([weather, watched(log, [named("weather")])])).rejects.toThrow(/^Two tools are named weather/)
    expect(log).toEqual(["open", "close"])
  })

  test("names what is wrong with a tool before anything is opened", async () => {
    const log: string[] = []
    const wrong = { ...weather, execute: undefined } as unknown as Tool
    await expect(open([watched(log, []), wrong])).rejects.toThrow("The tool weather needs `execute`")
    expect(log).toEqual([])
  })
})

describe("L7-4 the tools of another agent of the project", () => {
  test("are the same list with a shell of its own, which ends alone", async () => {
    const opened = await open([codingTools(), weather])
    const fork = await opened.fork()
    onTestFinished(() => fork.close())
    expect(fork.tools.map(({ name }) => name)).toEqual(opened.names)
    const bash = (tools: readonly Tool[]) => tools.find(({ name }) => name === "Bash")!
    const begun = Promise.withResolvers<void>()
    const context = testContext({ progress: () => begun.resolve() })
    const running = call(bash(fork.tools), { command: "echo go; sleep 60" }, context)
    await begun.promise
    await fork.close()
    expect(textIn(await running)).toMatch(/^The conversation was closed\./)
    expect(textIn(await call(bash(opened.tools), { command: "echo still here" }, testContext()))).toContain(
      "still here",
    )
  })

  test("are shared where a toolset has no fork, and only its owner closes it", async () => {
    const log: string[] = []
    const opened = await openTools([watched(log, [weather])], { cwd: scratchDirectory(), root: scratchDirectory() })
    const fork = await opened.fork()
    expect(fork.tools).toEqual([weather])
    await fork.close()
    expect(log).toEqual(["open"])
    await opened.close()
    expect(log).toEqual(["open", "close"])
  })
})

test("a toolset that cannot be closed keeps no other one open, and does not hide why the opening failed", async () => {
  const log: string[] = []
  const stuck: Toolset = {
    open: async () => ({
      tools: [],
      close: () => {
        throw new Error("stuck")
      },
    }),
    *[Symbol.iterator]() {
      yield stuck
    },
  }
  const context = { cwd: scratchDirectory(), root: scratchDirectory() }
  const opened = await openTools([stuck, watched(log, [weather])], context)
  await expect(opened.close()).rejects.toThrow("stuck")
  expect(log).toEqual(["open", "close"])
  await expect(openTools([stuck, watched(log, new Error("no server"))], context)).rejects.toThrow("no server")
})
