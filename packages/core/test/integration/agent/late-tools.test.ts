/** Tools that become available after the opening, end to end: the real SDK, the simulator over HTTP, bound thinking. */
import { describe, expect, test } from "vitest"
import type { ResponderRequest } from "../../../../sim/src/responder.ts"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import type { Tool, Toolset } from "../../../src/tools/tool.ts"
import { compactingAgent, compactingSimulator, decisionsOf, textsOf } from "../compaction/compacting.ts"
import { say } from "../layers/conversations.ts"
import { ask, ofType, project } from "./agents.ts"

const REFUND = "mcp__billing__refund_customer"

const tool = (name: string, description: string): Tool => ({
  name,
  description,
  inputSchema: { type: "object", properties: { invoice: { type: "string" } } },
  execute: ({ invoice }) => `${name}: ${invoice}. ${"The ledger has another line. ".repeat(600)}`,
})

/** A server that was not ready when the agent opened. */
function slowServer() {
  const late: Tool[] = []
  let revision = 0
  const set: Toolset = {
    open: async () => ({
      tools: [tool("mcp__shop__list", "Lists the shop.")],
      later: {
        tools: () => late,
        introductions: () => [{ type: "mcp_instructions", server: "billing", instructions: "Refund once." }],
        isExpected: true,
        revision: () => revision,
        wake: () => undefined,
      },
      close: async () => undefined,
    }),
    *[Symbol.iterator]() {
      yield set
    },
  }
  const join = () => {
    late.push(tool(REFUND, "Gives money back to a customer."))
    revision++
  }
  return { set, join }
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
const visible = ({ tools = [] }: ResponderRequest) => tools.map(({ name }) => name)
const bytes = async (agent: Agent) => JSON.stringify(await agent.conversation.prepare())

const MODELS = [
  {
    kind: "with references",
    settings: {},
    use: thinkingCall(REFUND, { invoice: "A-1" }),
    start: ["Grep", "mcp__shop__list", "Recall", "ToolSearch"],
  },
  {
    kind: "without references",
    settings: { models: { "claude-opus-5-5": { window: 200_000, accepts: { toolReferences: false } } } },
    use: thinkingCall("CallTool", { name: REFUND, input: { invoice: "A-1" } }),
    start: ["Grep", "mcp__shop__list", "Recall", "ToolSearch", "CallTool"],
  },
]

describe.each(MODELS)("TOOL-1 a server that joins late, on a model $kind", ({ settings, use, start }) => {
  test("is announced, found and used; nothing before it changes, and it survives a resume and a compaction", async () => {
    const { sim, of } = await compactingSimulator(["Hello.", FIND, use, "Refunded.", "Yes.", "Good."])
    const where = project()
    const first = slowServer()
    const open = (server: ReturnType<typeof slowServer>) =>
      compactingAgent(sim, { ...where, window: 200_000, settings, id: "kept", tools: [say, ...server.set] })
    const agent = await open(first)
    await ask(agent, "Hello")
    expect(visible(of("work")[0]!.request)).toEqual(start)
    first.join()
    const { events } = await ask(agent, "Refund A-1.")
    expect(ofType(events, "error")).toEqual([])
    const [, second, , fourth] = of("work")
    expect(visible(second!.request)).toEqual(start)
    const announced = textsOf(second!.request).join("\n")
    expect(announced).toContain("mcp__billing__: refund_customer")
    expect(announced).toContain("Refund once.")
    const { deferred: listing } = engineOf(agent.conversation).views.context.announced
    expect(listing?.tokens).toBeGreaterThan(20)
    expect(textsOf(fourth!.request).join("\n")).toContain(`${REFUND}: A-1.`)
    expect(agent.conversation.cacheHistory().breaks).toEqual([])
    expect(await decisionsOf(agent, "thinking-dropped")).toEqual([])

    await agent.conversation.add("And now?")
    const live = await bytes(agent)
    await agent.close()
    const again = slowServer()
    again.join()
    const resumed = await open(again)
    expect(await bytes(resumed)).toBe(live)

    await ask(resumed, undefined)
    await resumed.conversation.compact()
    await ask(resumed, "Still there?")
    const { request } = of("work").at(-1)!
    const isReachable = visible(request).includes(REFUND) || textsOf(request).join("\n").includes(REFUND)
    expect(isReachable).toBe(true)
  })
})
