/** Deferred tools end to end: the real SDK, the simulator over HTTP, bound thinking. */
import { describe, expect, test } from "vitest"
import type { ResponderRequest } from "../../../../sim/src/responder.ts"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { HookInput } from "../../../src/agent/hooks/hooks.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { isToolResult } from "../../../src/messages/blocks.ts"
import { contentOf } from "../../../src/messages/messages.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import { isWhole } from "../../size.ts"
import { compactingAgent, compactingSimulator, decisionsOf, textsOf } from "../compaction/compacting.ts"
import { say, usagesOf } from "../layers/conversations.ts"
import { ask, ofType, project } from "./agents.ts"

const REFUND = "mcp__billing__refund_customer"
const WINDOW = { window: 200_000 }

/** 200 tools of about 150 tokens each: more than 10% of 200,000. */
function manyTools(more: Partial<Tool> = {}): readonly Tool[] {
  const rare: Tool = {
    name: REFUND,
    description: `Gives money back to a customer. ${"It checks the invoice and the amount first. ".repeat(10)}`,
    inputSchema: {
      type: "object",
      properties: { invoice: { type: "string" }, cents: { type: "number" } },
      required: ["invoice"],
    },
    execute: ({ invoice }) => `Refunded ${invoice}.`,
    ...more,
  }
  const others = Array.from(
    { length: 199 },
    (_, i): Tool => ({
      ...rare,
      name: `mcp__shop__action_${i}`,
      description: `Does the shop's action number ${i}. ${"It needs to know what for and how often. ".repeat(12)}`,
      execute: () => `action ${i}`,
    }),
  )
  return [say, ...others, rare]
}

const thinkingCall =
  (name: string, input: object): ScriptedTurn =>
  (turn) => ({
    content: [
      { type: "thinking", thinking: "Let me see." },
      { type: "tool_use", id: turn.nextToolUseId(), name, input },
    ],
  })
const FIND = thinkingCall("ToolSearch", { query: "give a customer their money back" })
const USE = thinkingCall(REFUND, { invoice: "A-1" })

const visible = ({ tools = [] }: ResponderRequest) => tools.map(({ name }) => name)
const bytes = async (agent: Agent) => JSON.stringify(await agent.conversation.prepare())

interface Opening {
  readonly turns: readonly ScriptedTurn[]
  readonly options?: Parameters<typeof compactingAgent>[1]
  readonly where?: ReturnType<typeof project>
}

async function opened({ turns, options = {}, where = project() }: Opening) {
  const { sim, of } = await compactingSimulator(turns)
  const open = (more: Parameters<typeof compactingAgent>[1] = {}) =>
    compactingAgent(sim, { ...where, ...WINDOW, id: "kept", tools: manyTools(), ...options, ...more })
  return { open, of }
}

describe("TOOL-1 200 tools on a model that knows references", () => {
  test("cost one line until one is found and used, and loading changes nothing before it", async () => {
    const { open, of } = await opened({ turns: [FIND, USE, "Refunded."] })
    const agent = await open()
    const { events } = await ask(agent, "The customer of invoice A-1 wants their money back.")
    const [first, second, third] = of("work")
    expect(visible(first!.request)).toEqual(["Grep", "Recall", "ToolSearch"])
    expect(visible(second!.request)).toContain(REFUND)
    expect(visible(second!.request).length).toBeLessThanOrEqual(3 + 5)
    expect(textsOf(third!.request).join("\n")).toContain("Refunded A-1.")
    expect(ofType(events, "tool-result").map(({ name }) => name)).toEqual(["ToolSearch", REFUND])
    const line = textsOf(first!.request).filter((text) => text.includes("not loaded"))
    expect(line).toHaveLength(1)
    expect(line[0]).toContain("mcp__billing__: refund_customer")
    const [one, two] = usagesOf(agent)
    expect(one!.cache_creation_input_tokens).toBeLessThan(5_000)
    expect(two!.cache_read_input_tokens).toBe(one!.cache_creation_input_tokens)
    expect(agent.conversation.cacheHistory().breaks).toEqual([])
    expect(agent.conversation.accounting().deferredTools!.count).toBeLessThan(200)
    expect(engineOf(agent.conversation).views.context.promptTokens).toBeLessThan(4_000)
  })

  test.runIf(isWhole)("an estimate counts a loaded definition where it was loaded", async () => {
    const { open } = await opened({ turns: [FIND, "Found."] })
    const agent = await open()
    await ask(agent, "Look for it.")
    const { context, estimator } = engineOf(agent.conversation).views
    const results = context.storedMessages().flatMap((message) => (message.type === "user" ? contentOf(message) : []))
    expect(estimator.blocks(results.filter(isToolResult))).toBeGreaterThan(100)
  })

  test.runIf(isWhole)("a resumed conversation sends the same bytes, and the tool is still loaded", async () => {
    const { open, of } = await opened({ turns: [FIND, "Found.", USE, "Refunded."] })
    const first = await open()
    await ask(first, "Look for it.")
    await first.conversation.add("Now refund A-1.")
    const live = await bytes(first)
    await first.close()
    const second = await open()
    expect(await bytes(second)).toBe(live)
    await ask(second, undefined)
    expect(textsOf(of("work").at(-1)!.request).join("\n")).toContain("Refunded A-1.")
    expect(second.conversation.cacheHistory().breaks).toEqual([])
  })

  test.runIf(isWhole)("what was loaded survives a compaction, a second one, and a resume after it", async () => {
    const { open, of } = await opened({ turns: [FIND, USE, "Refunded.", "Yes.", USE, "Again."] })
    const agent = await open()
    await ask(agent, "Refund A-1.")
    for (const words of ["Still there?", "And now?"]) {
      await agent.conversation.compact()
      await ask(agent, words)
      const { request } = of("work").at(-1)!
      expect(visible(request)).toContain(REFUND)
      expect(visible(request).length).toBeLessThanOrEqual(3 + 5)
      expect(textsOf(request).filter((text) => text.includes("not loaded"))).toHaveLength(1)
    }
    await agent.conversation.add("Then?")
    const live = await bytes(agent)
    await agent.close()
    expect(await bytes(await open())).toBe(live)
  })

  test.runIf(isWhole)(
    "a tool that left between two sessions costs neither the conversation nor its thinking",
    async () => {
      const { open, of } = await opened({ turns: [FIND, USE, "Refunded.", USE, "It is gone."] })
      const first = await open()
      await ask(first, "Refund A-1.")
      await first.close()
      const second = await open({ tools: manyTools().filter(({ name }) => name !== REFUND) })
      const { events } = await ask(second, "Once more.")
      expect(ofType(events, "error")).toEqual([])
      const answer = String(ofType(events, "tool-result")[0]!.result.content)
      expect(answer).toContain(`There is no tool named ${REFUND}.`)
      expect(answer.length).toBeLessThan(1_000)
      expect(await decisionsOf(second, "thinking-dropped")).toEqual([])
      expect(textsOf(of("work").at(-1)!.request).filter((text) => text.includes("not loaded"))).toHaveLength(2)
      expect(second.conversation.cacheHistory().breaks).toEqual([])
    },
  )

  test.each([
    ["the switch is off", { settings: { switches: { "deferred-tools": false } } }],
    [
      "share and limit are larger",
      { settings: { figures: { "deferred-tools-share": 90, "deferred-tools-limit": 1_000_000 } } },
    ],
    ["a rule denies ToolSearch", { settings: { permissions: { deny: ["ToolSearch"] } } }],
  ])("all are declared where %s", async (_, options) => {
    const { open, of } = await opened({ turns: ["Hello."], options })
    await ask(await open(), "Hello")
    expect(visible(of("work")[0]!.request)).toEqual([...manyTools().map(({ name }) => name), "Recall"])
  })

  test("wait on a window of a million too: 10,000 tokens are the limit, however large the window", async () => {
    const { open, of } = await opened({ turns: ["Hello."] })
    const agent = await open({ window: 1_000_000 })
    await ask(agent, "Hello")
    expect(agent.conversation.thresholds.window).toBe(1_000_000)
    expect(visible(of("work")[0]!.request)).toEqual(["Grep", "Recall", "ToolSearch"])
  })

  test("a tool of your own named ToolSearch stays as it is", async () => {
    const own: Tool = { ...say, name: "ToolSearch" }
    const { open, of } = await opened({ turns: ["Hello."], options: { tools: [...manyTools(), own] } })
    await ask(await open(), "Hello")
    expect(visible(of("work")[0]!.request)).toHaveLength(203)
  })
})

const NO_REFERENCES = {
  settings: { models: { "claude-opus-5-5": { window: 200_000, accepts: { toolReferences: false } } } },
}
const USE_BY_NAME = thinkingCall("CallTool", { name: REFUND, input: { invoice: "A-1" } })

describe("TOOL-1 200 tools on a model without references", () => {
  test("are called by name; hooks, rules and the user see the tool itself", async () => {
    const seen: HookInput[] = []
    const asked: string[] = []
    const { open, of } = await opened({
      turns: [FIND, USE_BY_NAME, "Refunded."],
      options: {
        ...NO_REFERENCES,
        mode: "ask",
        tools: manyTools({ needsApproval: true }),
        hooks: [{ event: "PreToolUse", run: (input) => void seen.push(input) }],
        askPermission: ({ tool }) => {
          asked.push(tool)
          return { allowed: true }
        },
      },
    })
    const agent = await open()
    const { events } = await ask(agent, "Refund A-1.")
    const [first, second, third] = of("work")
    expect(visible(first!.request)).toEqual(["Grep", "Recall", "ToolSearch", "CallTool"])
    expect(visible(third!.request)).toEqual(["Grep", "Recall", "ToolSearch", "CallTool"])
    expect(textsOf(second!.request).join("\n")).toContain('"required":["invoice"]')
    expect(textsOf(third!.request).join("\n")).toContain("Refunded A-1.")
    expect(seen.map(({ tool_name, tool_input }) => [tool_name, tool_input])).toEqual([
      ["ToolSearch", { query: "give a customer their money back" }],
      [REFUND, { invoice: "A-1" }],
    ])
    expect(asked).toEqual([REFUND])
    expect(ofType(events, "tool-start").map(({ name }) => name)).toEqual(["ToolSearch", REFUND])
    expect(agent.conversation.cacheHistory().breaks).toEqual([])
  })

  test.each([
    ["a deny rule", { settings: { ...NO_REFERENCES.settings, permissions: { deny: [REFUND] } } }],
    ["plan mode", { ...NO_REFERENCES, mode: "plan" as const }],
  ])("%s holds for a call by name", async (_, options) => {
    const { open } = await opened({ turns: [FIND, USE_BY_NAME, "No."], options })
    const { events } = await ask(await open(), "Refund A-1.")
    expect(ofType(events, "tool-denied").map(({ name }) => name)).toEqual([REFUND])
  })

  test.runIf(isWhole)("a compaction repeats the schema, and a resume sends the same bytes", async () => {
    const { open, of } = await opened({
      turns: [FIND, USE_BY_NAME, "Refunded.", USE_BY_NAME, "Again."],
      options: NO_REFERENCES,
    })
    const agent = await open()
    await agent.conversation.add([
      { role: "user", content: "What did the customer write?" },
      { role: "assistant", content: "They sent a long letter. ".repeat(200) },
    ])
    await ask(agent, "Refund A-1.")
    await agent.conversation.compact()
    await ask(agent, "Once more.")
    const texts = textsOf(of("work").at(-1)!.request).join("\n")
    expect(texts).toContain(`- ${REFUND}, called with CallTool`)
    expect(texts).toContain('"required":["invoice"]')
    await agent.conversation.add("Then?")
    const live = await bytes(agent)
    await agent.close()
    expect(await bytes(await open())).toBe(live)
  })

  test.runIf(isWhole)("a conversation that used references continues", async () => {
    const { open, of } = await opened({ turns: [FIND, USE, "Refunded.", FIND, USE_BY_NAME, "Again."] })
    const first = await open()
    await ask(first, "Refund A-1.")
    await first.close()
    const second = await open(NO_REFERENCES)
    const { events } = await ask(second, "Once more.")
    expect(ofType(events, "error")).toEqual([])
    expect(textsOf(of("work").at(-1)!.request).join("\n")).toContain(`[The tool ${REFUND} was loaded here.]`)
    expect(ofType(events, "tool-result").at(-1)!.result.content).toBe("Refunded A-1.")
  })
})
