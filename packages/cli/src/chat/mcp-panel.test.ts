import { expect, test } from "vitest"
import { mcpLines } from "./mcp-panel.ts"

test("TOOL-1 /mcp shows state and token cost of each server", () => {
  expect(
    mcpLines([
      { name: "github", state: "connected", tools: 150, declared: 0, waiting: 20_500 },
      { name: "db", state: "connected", tools: 1, declared: 140, waiting: 0 },
      {
        name: "web",
        state: "failed",
        why: "nothing answers at \u001b[31mexample.com",
        tools: 0,
        declared: 0,
        waiting: 0,
      },
      { name: "slow", state: "starting", tools: 0, declared: 0, waiting: 0 },
    ]),
  ).toEqual([
    "github  connected, 150 tools, 20.5K tokens not loaded",
    "db      connected, 1 tool, 140 tokens in every request",
    "web     not available; your next message tries it again",
    "        nothing answers at \\u001b[31mexample.com",
    "slow    starting; its tools join when it is ready",
    "",
    "Every request carries about 140 tokens of their definitions.",
    "Another 20.5K tokens are not loaded: the agent finds them with ToolSearch.",
  ])
})

test("without servers it says where to name them", () => {
  expect(mcpLines([])).toEqual([expect.stringContaining(".mcp.json")])
})
