/** Limits on agents that apply to all processes of a project, and after a resume in another one. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { dailyBudgetIn } from "../../../src/journal/store.ts"
import { isToolResult } from "../../../src/messages/blocks.ts"
import { contentOf } from "../../../src/messages/messages.ts"
import { takePermit } from "../../../src/team/agent-permits.ts"
import type { TeamAgent } from "../../../src/team/open-team.ts"
import { isWhole } from "../../size.ts"
import { ask, calls, project } from "../agent/agents.ts"
import { agentCall, castSimulator, decisions, journalOf, leadFor, send, startedEarlier } from "./cast.ts"

const TAKER = fileURLToPath(new URL("../../permit-taker.ts", import.meta.url))

async function toolResults(agent: TeamAgent): Promise<readonly string[]> {
  const entries = await journalOf(agent)
  return entries.flatMap((entry) =>
    entry.type === "user"
      ? contentOf(entry)
          .filter(isToolResult)
          .map(({ content }) => JSON.stringify(content))
      : [],
  )
}

/** A turn that waits until it is released. */
function held(answer: string) {
  const [reached, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const turn: ScriptedTurn = async () => {
    reached.resolve()
    await free.promise
    return answer
  }
  return { turn, reached: reached.promise, free: free.resolve }
}

test.runIf(isWhole)(
  "BEY-12 agents of another process count: the model gets a sentence, and a killed process's places are free",
  async () => {
    const { sim } = await castSimulator({
      lead: [calls(agentCall("[a] 1")), "Later.", calls(agentCall("[a] 2")), "Done."],
      a: ["ok"],
    })
    const agent = await leadFor(sim, { ...project(), settings: { figures: { "max-agents-project": 2 } } })
    const root = (await agent.conversation.location).split("/projects/")[0]!
    const other = spawn(process.execPath, [TAKER, root, engineOf(agent.conversation).namespace, "2", "2"], {
      stdio: ["pipe", "pipe", "inherit"],
    })
    onTestFinished(() => void other.kill("SIGKILL"))
    let taken = 0
    for await (const line of createInterface({ input: other.stdout })) if (line === "acquired" && ++taken === 2) break

    await ask(agent, "Go.")
    expect((await toolResults(agent))[0]).toContain(
      "2 agents of this project work at the moment, those of other conversations and machines included, and the limit is 2 (max-agents-project). Nothing was started: try again later, or do the work yourself.",
    )
    expect(agent.team.list()).toEqual([])
    other.kill("SIGKILL")
    await once(other, "exit")
    await ask(agent, "Again.")
    expect((await toolResults(agent))[1]).toContain("ok")
    expect(agent.team.list()).toMatchObject([{ id: "agent-1", status: "completed" }])
  },
)

test("BEY-12 two conversations share the places of their project, and a teammate with a message waits for one", async () => {
  const busy = held("Slept.")
  const { sim, of } = await castSimulator({
    lead: [
      ...[calls(agentCall("[mate] First.", { name: "mate" })), "I wait.", "First is there."],
      ...[calls(agentCall("[busy] Sleep.", { run_in_background: true })), "I wait."],
      ...["Second is there.", "It slept."],
    ],
    mate: ["First is done.", "Second is done."],
    busy: [busy.turn],
  })
  const clock = manualClock("2026-11-17T12:00:00.000Z")
  const shared = { store: memoryStore(), ...project(), clock }
  const settings = { figures: { "max-agents-project": 1, "agent-progress": 0 } }
  const one = await leadFor(sim, { ...shared, settings, autonomous: true })
  await ask(one, "Begin.") // its teammate works, reports and waits: the permit is free
  const other = await leadFor(sim, { ...shared, settings })
  await ask(other, "Begin.")
  await busy.reached
  const full = { state: "full", taken: 1, by: expect.objectContaining({ pid: process.pid }) }
  expect(await takePermit(engineOf(one.conversation), { id: "probe", max: 1 })).toEqual(full)

  one.team.deliver({ id: "lead#1", from: "lead", to: "mate", text: "Now the second.", hops: 1 })
  for (let tries = 0; tries < 3; tries++) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(5_000)
  }
  expect(of("mate")).toHaveLength(1)
  expect(one.team.list()).toMatchObject([{ name: "mate", status: "idle" }])
  busy.free()
  await other.team.settled()
  clock.advance(5_000)
  expect(await one.team.inbound.whenAny(new AbortController().signal)).toBe(true)
  expect(of("mate")).toHaveLength(2)
})

test("BEY-12 an agent that cannot begin, fails or is stopped releases its permit", async () => {
  const { sim } = await castSimulator({
    lead: [
      calls(agentCall("[a] 1", { isolation: "worktree" })), // there is no repository
      calls(agentCall("[endless] 2")),
      calls(agentCall("[a] 3")),
      "Done.",
    ],
    endless: Array.from({ length: 3 }, () => calls(["Grep", { words: 10 }])),
    a: ["ok"],
  })
  const agent = await leadFor(sim, {
    ...{ store: memoryStore(), ...project() },
    settings: { figures: { "max-agents-project": 1, "agent-turns": 2 } },
  })
  await ask(agent, "Go.")
  const results = await toolResults(agent)
  expect(results[1]).toContain("It used all of its 2 requests.")
  expect(results[2]).toContain("ok")
  expect((await takePermit(engineOf(agent.conversation), { id: "probe", max: 1 })).state).toBe("acquired")
})

test("BEY-12 agents that a conversation has started count after a resume, those that were refused do not", async () => {
  const { sim } = await castSimulator({
    lead: [
      ...[calls(agentCall("[a] 1")), "Later.", calls(agentCall("[a] 2")), "Done."],
      ...[calls(agentCall("[a] 3")), calls(agentCall("[a] 4")), "Done."],
    ],
    a: ["ok", "ok"],
  })
  const shared = { ...project(), id: "c", settings: { figures: { "max-agents-project": 1 } } }
  await startedEarlier(sim, 198, shared)
  const first = await leadFor(sim, shared)
  const other = await takePermit(engineOf(first.conversation), { id: "other", max: 1 })
  await ask(first, "Go.")
  if (other.state === "acquired") await other.permit.release()
  await ask(first, "Go on.")
  await first.close()
  const second = await leadFor(sim, shared)
  await ask(second, "Go on.")
  const results = await toolResults(second)
  expect(results[0]).toContain("max-agents-project")
  for (const result of results.slice(1, 3)) expect(result).toContain("ok")
  expect(results[3]).toContain("This conversation has started 200 agents, and its limit is 200.")
  expect(
    second.team
      .list()
      .map(({ id }) => id)
      .slice(198),
  ).toEqual(["agent-199", "agent-200"])
})

test("BEY-12 an agent begins with the hops of what its lead answers", async () => {
  const { sim, of } = await castSimulator({
    lead: [calls(agentCall("[a] Ask them.")), "Done."],
    a: [calls(send("lead", "What do you think?")), "Asked."],
  })
  const agent = await leadFor(sim)
  agent.team.deliver({ id: "other#1", from: "other", to: "lead", text: "What do you think?", hops: 12 })
  await ask(agent, undefined)
  expect(JSON.stringify(of("a")[1]!.request.messages)).toContain("12 times in a row, and that is the limit.")
})

test("BEY-12 the result of an agent brings the hops of what it answered, also after a resume in another process", async () => {
  const answering = held("I think so.")
  const { sim } = await castSimulator({
    lead: [
      ...[calls(agentCall("[a] Listen.", { name: "mate" })), "I wait.", "Well."],
      ...[calls(agentCall("[b] Wait.", { name: "other" }), send("other", "And you?")), "Done."],
    ],
    a: ["I listen.", answering.turn],
    b: ["I wait."],
  })
  const shared = { ...project(), id: "c" }
  const first = await leadFor(sim, { ...shared, autonomous: true })
  await ask(first, "Begin.")
  first.team.deliver({ id: "far#1", from: "far", to: "mate", text: "What do you think?", hops: 12 })
  await answering.reached
  await first.team.stop("mate")
  await first.close()
  const second = await leadFor(sim, shared)
  expect(engineOf(second.conversation).views.agents.hops).toBe(12)
  await ask(second, undefined)
  expect(await toolResults(second)).toContainEqual(expect.stringContaining("12 times in a row, and that is the limit."))
})

test.each([
  { limit: 0, hasSpent: false },
  { limit: 2, hasSpent: true },
])("BEY-12 notes of an agent count into the project's sum of the day: limit $limit", async ({ limit, hasSpent }) => {
  const { sim } = await castSimulator({
    lead: [calls(agentCall("[a] Go.")), "Done."],
    a: [...Array.from({ length: 4 }, () => calls(["Grep", { words: 3_000 }])), "ok"],
  })
  const store = memoryStore()
  const clock = manualClock("2026-11-17T12:00:00.000Z")
  const figures = {
    "memory-daily-limit": limit,
    "background-share": 100,
    "notes-start": 3_000,
    "notes-growth": 1_000,
    "notes-tool-calls": 1,
  }
  const settings = { figures, switches: { notes: true } }
  const agent = await leadFor(sim, { ...{ store, clock, settings }, ...project() })
  await ask(agent, "Go.")
  expect(decisions(await journalOf(agent), "notes-updated")).toEqual([])
  expect(
    await dailyBudgetIn(store.memories({ project: engineOf(agent.conversation).namespace })).spentOn("2026-11-17"),
  ).toEqual(hasSpent ? expect.toSatisfy((dollars: number) => dollars > 0) : 0)
})

test.runIf(isWhole)(
  "BEY-12 Strata among the commands of an agent starts no agents, and among those of its lead it does",
  async () => {
    const command = ["Bash", { command: "echo agents=$STRATA_AGENTS.", description: "looks" }] as const
    const { sim, of } = await castSimulator({
      lead: [calls(command), calls(agentCall("[a] Go.")), "Done."],
      a: [calls(command), "ok"],
    })
    await ask(await leadFor(sim), "Go.")
    expect(JSON.stringify(of("lead")[1]!.request.messages)).toContain("agents=.")
    expect(JSON.stringify(of("a")[1]!.request.messages)).toContain("agents=off.")
  },
)
