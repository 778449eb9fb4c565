import { expect, test } from "vitest"
import type { SignInUser } from "../../../core/src/tools/tool.ts"
import type { CommandTarget } from "./command-target.ts"
import type { DialogAnswer, DialogDraft } from "./dialog.ts"
import { mcp, mcpLines, toolLines } from "./mcp-panel.ts"

test("TOOL-1 /mcp shows state and token cost of each server", () => {
  expect(
    mcpLines(
      [
        { name: "github", state: "connected", tools: 150, declared: 0, waiting: 20_500 },
        { name: "db", state: "connected", tools: 1, prompts: 2, hasResources: true, declared: 140, waiting: 0 },
        {
          name: "web",
          state: "failed",
          why: "nothing answers at \u001b[31mexample.com",
          tools: 0,
          declared: 0,
          waiting: 0,
        },
        { name: "slow", state: "starting", tools: 0, declared: 0, waiting: 0 },
        { name: "hub", state: "needs-sign-in", why: "type /mcp login hub", tools: 0, declared: 0, waiting: 0 },
      ],
      { columns: 78 },
    ),
  ).toEqual([
    "github  connected, 150 tools, 20.5K tokens not loaded",
    "db      connected, 1 tool, 2 prompts, resources, 140 tokens in every request",
    "web     not available; your next message tries it again",
    "        nothing answers at \\u001b[31mexample.com",
    "slow    starting; its tools join when it is ready",
    "hub     needs sign-in",
    "        type /mcp login hub",
    "",
    "Every request carries about 140 tokens of their definitions.",
    "Another 20.5K tokens are not loaded: the agent finds them with ToolSearch.",
  ])
})

test("/mcp login shows the address, and the question goes when the browser has come back", async () => {
  const notices: string[] = []
  const { promise: answer, resolve } = Promise.withResolvers<DialogAnswer>()
  const dialogs: DialogDraft[] = []
  const outcomes: unknown[] = []
  const address = "https://login.example.com/authorize?state=x"
  const signIn = async (user: SignInUser) => {
    const back = new AbortController()
    const visited = user.visit(address, back.signal)
    back.abort()
    outcomes.push(await visited)
  }
  const target = {
    agent: { servers: [{ name: "hub", state: "needs-sign-in", tools: [], signIn }] },
    notice: (text: string) => notices.push(text),
    ask: (dialog: DialogDraft) => {
      dialogs.push(dialog)
      return answer
    },
    dismiss: (title: string) =>
      resolve(title === dialogs[0]?.title ? { type: "dismissed" } : { type: "chosen", index: 0 }),
  } as unknown as CommandTarget
  await mcp(target, "login hub")
  expect(notices[0]).toBe(`To sign in to hub, open this address at login.example.com:\n${address}`)
  expect(notices[1]).toContain("Signed in to hub")
  expect(dialogs).toHaveLength(1)
  expect(outcomes).toEqual([undefined])
  await mcp(target, "login nowhere")
  await mcp(target, "logout")
  expect(notices.slice(2)).toEqual([
    "There is no MCP server named nowhere. /mcp lists them.",
    "Type /mcp to see the servers, /mcp tools NAME to see the tools of one, or /mcp login NAME to sign in.",
  ])
})

test("without servers it says where to name them", () => {
  expect(mcpLines([], { columns: 120 })).toEqual([expect.stringContaining(".mcp.json")])
})

test("of many servers the first are shown, and how to see the others; long texts stay in their column", () => {
  const why = "nothing answers at the address that the settings name for it"
  const server = (i: number) => ({
    name: `server-${i}`,
    state: "failed" as const,
    why,
    tools: 0,
    declared: 0,
    waiting: 0,
  })
  const servers = Array.from({ length: 40 }, (_, i) => server(i))
  const lines = mcpLines(servers, { columns: 56 })
  expect(lines).toContain("… and 10 more. To see all: /mcp all")
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(56)
  expect(lines.slice(0, 4)).toEqual([
    "server-0   not available; your next message tries it",
    "           again",
    "           nothing answers at the address that the",
    "           settings name for it",
  ])
  expect(mcpLines(servers, { columns: 56, isWhole: true }).join("\n")).toContain("server-39")
})

test("the tools of a server with their cost, the most expensive first", () => {
  const tools = [
    { name: "mcp__db__list", description: "Lists tables.\nMore.", isDeclared: true, tokens: 90 },
    { name: "mcp__db__query", description: "Runs a query and returns the rows", isDeclared: false, tokens: 1_400 },
  ]
  expect(toolLines(tools, 56)).toEqual([
    "tool            tokens              about",
    "mcp__db__query    1.4K  not loaded  Runs a query and re…",
    "mcp__db__list       90              Lists tables.",
  ])
  expect(toolLines([], 56)).toEqual([expect.stringContaining("no tools now")])
})
