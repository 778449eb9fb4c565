/** Spent money is counted however an answer ends, and a limit applies to all callers together. Real HTTP, the real SDK. */
import { join } from "node:path"
import { expect, test } from "vitest"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import { mcpServers } from "../../../src/agent/tools/toolsets.ts"
import { isWhole } from "../../size.ts"
import { agentCall, castSimulator, decisions, journalOf, leadFor } from "../team/cast.ts"
import { agentFor, ask, calls, codingTools, project } from "./agents.ts"

const LONG = "A word about many things. ".repeat(8_000)
const ANSWER = "An answer with a few words in it. ".repeat(20)
const noBackground = { settings: { switches: { "auto-memory": false, notes: false } } } as const

test("LOOP-6 an answer that is stopped after it began is counted as estimated, and a cost limit sees it", async () => {
  const sim = await simulator({
    responder: scriptedResponder([ANSWER, "Never."]),
    faults: [{ nth: 1, fault: { kind: "stall", afterEvents: 6 } }],
  })
  const where = project()
  const agent = await agentFor(sim, where, noBackground)
  const stop = new AbortController()
  const watch = ({ type }: { type: string }) => type === "text" && stop.abort()
  const { end } = await ask(agent, LONG, { signal: stop.signal, watch })
  expect(end.reason).toBe("aborted")
  const bill = sim.stats().total
  const { dollars, requests, estimated, tokens } = agent.conversation.ledger()
  expect({ requests, estimated: estimated?.requests }).toEqual({ requests: 1, estimated: 1 })
  expect(tokens.cacheWrite + tokens.input).toBe(bill.inputTokens + bill.cacheWriteTokens)
  expect(dollars).toBeCloseTo(estimated!.dollars, 12)
  expect(Math.abs(dollars - bill.dollars) / bill.dollars).toBeLessThan(0.05)
  expect(await ask(agent, "Go on.", { costLimit: dollars * 0.9 })).toMatchObject({ end: { reason: "cost-limit" } })
  expect(sim.stats().total.requests).toBe(1)
  const before = agent.conversation.ledger()
  const { id } = agent.conversation
  await agent.close()
  const again = await agentFor(sim, where, { id, mustExist: true, ...noBackground })
  expect(again.conversation.ledger()).toEqual(before)
})

test.each([
  ["cut-socket", { kind: "cut-socket", afterEvents: 4 }],
  ["early-end", { kind: "early-end", afterEvents: 4 }],
  ["stream-error", { kind: "stream-error", afterEvents: 4 }],
] as const)("LOOP-5 an attempt that ends with %s is counted beside the one that succeeds", async (_, fault) => {
  const sim = await simulator({ responder: scriptedResponder([ANSWER, ANSWER]), faults: [{ nth: 1, fault }] })
  const agent = await agentFor(sim, project(), noBackground)
  expect(await ask(agent, LONG)).toMatchObject({ end: { reason: "answer" } })
  const bill = sim.stats().total
  const { dollars, requests, estimated } = agent.conversation.ledger()
  expect({ requests, estimated: estimated?.requests }).toEqual({ requests: bill.requests, estimated: 1 })
  expect(Math.abs(dollars - bill.dollars) / bill.dollars).toBeLessThan(0.05)
})

test("CACHE-5 whole answers and refusals with a status are not estimated: the ledger is the server's bill", async () => {
  const responder = scriptedResponder([calls(["Read", { file_path: "a.txt" }]), ANSWER])
  const sim = await simulator({ responder, faults: [{ nth: 1, fault: { kind: "overloaded" } }] })
  const agent = await agentFor(sim, project({ "a.txt": LONG }), noBackground)
  await ask(agent, "go")
  const ledger = agent.conversation.ledger()
  expect(ledger).not.toHaveProperty("estimated")
  expect(ledger.dollars).toBeCloseTo(sim.stats().total.dollars, 12)
})

test.runIf(isWhole)("L7-4 eight agents side by side share the limit: they cannot pass it together", async () => {
  const { sim } = await castSimulator({
    lead: [calls(...Array.from({ length: 8 }, () => agentCall("[worker] Go."))), "Done."],
    // each agent calls once and then answers, independently of the others' progress
    worker: Array.from(
      { length: 16 },
      (_, n): ScriptedTurn =>
        (turn) => {
          const hasCalled = turn.request.messages.some(({ role }) => role === "assistant")
          const input = { words: 60_000 + 2 * n }
          return hasCalled ? ANSWER : { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: "Grep", input }] }
        },
    ),
  })
  const settings = { figures: { "max-agents": 8 }, switches: { "tool-result-storage": false } }
  const agent = await leadFor(sim, { settings })
  const limit = 1
  await ask(agent, "Go.", { costLimit: limit })
  await agent.team.settled()
  const { total } = sim.stats()
  expect(total.dollars).toBeLessThanOrEqual(limit)
  expect(total.dollars).toBeGreaterThan(limit / 2)
  const ended = agent.team.list().map(({ status }) => status)
  expect(ended).toContain("completed")
  expect(ended).toContain("killed")
  expect(agent.conversation.ledger().dollars).toBeCloseTo(total.dollars, 10)
  const spent = decisions(await journalOf(agent), "spent")
  expect(new Set(spent.map(({ responseId }) => responseId)).size).toBe(spent.length)
})

test.runIf(isWhole)("LOOP-6 a server that asks the model for ever is refused at the limit", async () => {
  const sim = await simulator({
    responder: scriptedResponder([
      calls(["mcp__t__sample", { forever: true }]),
      ...Array.from({ length: 500 }, () => ANSWER),
    ]),
  })
  const program = join(import.meta.dirname, "../../mcp-server.ts")
  const servers = { t: { command: process.execPath, args: [program], sampling: "allow" as const } }
  const agent = await agentFor(sim, project(), {
    tools: [...codingTools(), ...mcpServers(servers)],
    mode: "bypass",
    costLimit: 0.12,
    ...noBackground,
  })
  const { end, events } = await ask(agent, "Ask it.")
  expect(JSON.stringify(events)).toContain("not sent")
  expect(["cost-limit", "answer"]).toContain(end.reason)
  const { total } = sim.stats()
  expect(total.dollars).toBeLessThanOrEqual(0.12)
  expect(total.requests).toBeGreaterThan(3)
  expect(agent.conversation.ledger().dollars).toBeCloseTo(total.dollars, 10)
})
