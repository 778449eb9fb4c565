/** Cache reads of forks of a long conversation, after each way of clearing old results. */
import { describe, expect, test } from "vitest"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { isForked } from "../../../src/forks/fork.ts"
import type { DecisionOf } from "../../../src/journal/entries.ts"
import type { Usage } from "../../../src/messages/messages.ts"
import { write } from "../../../src/tools/files/write.ts"
import { ask, codingTools } from "../agent/agents.ts"
import { lookFirst } from "../memory/remembering.ts"
import { cachedAfter, layeredAgent, MINUTE, rounds, say, usagesOf } from "./conversations.ts"

type Settings = NonNullable<SingleAgentOptions["settings"]>
type Clearing = "by-api" | "by-size" | "by-time"

const RULE = "From now on, always write tests first."
const LONG_RESULT = 6_000 // words
const MIN_READ = 0.95

/** Settings that enable every kind of fork, late enough to be small compared with the conversation. */
const FIGURES = { "background-share": 100, "notes-start": 60_000, "notes-growth": 30_000 }

const SETTINGS: Readonly<Record<Clearing, Settings>> = {
  "by-api": { figures: { ...FIGURES, "api-clear-trigger": 90_000, "api-clear-keep": 30_000 } },
  "by-size": { figures: FIGURES, switches: { "clear-by-api": false }, autoCompactTokens: 120_000 },
  "by-time": { figures: FIGURES },
}

/** A query that ends when its background work is done. */
async function query(agent: Agent, text: string): Promise<void> {
  expect((await ask(agent, text)).end.reason).toBe("answer")
  await agent.conversation.whenIdle()
}

/** Plays these turns to the conversation, and answers its forks with notes, memories and summaries. */
async function working(script: readonly ScriptedTurn[], settings: Settings) {
  const responder = scriptedResponder(script)
  const sim = await simulator({
    bindThinking: "error",
    responder: {
      name: "working",
      async answer(turn) {
        const isFork = isForked(turn.request.messages as never)
        const answer = isFork ? (lookFirst(turn) ?? extractiveAnswer(turn)!) : await responder.answer(turn)
        return { ...answer, content: [{ type: "thinking", thinking: "Let me see." }, ...answer.content] }
      },
    },
  })
  const agent = await layeredAgent(sim, { tools: [...codingTools(), write, say], settings })
  return { sim, agent }
}

async function decisions<S extends "spent" | "server-edited" | "tool-results-cleared">(agent: Agent, subtype: S) {
  const found: DecisionOf<S>[] = []
  for await (const entry of agent.conversation.entries())
    if (entry.type === "strata" && entry.subtype === subtype) found.push(entry as unknown as DecisionOf<S>)
  return found
}

const forksFor = async (agent: Agent, purpose: string): Promise<readonly Usage[]> =>
  (await decisions(agent, "spent")).flatMap((spent) => (spent.purpose === purpose ? [spent.usage as Usage] : []))

function shareRead(usage: Usage): number {
  return (usage.cache_read_input_tokens ?? 0) / (cachedAfter(usage) + usage.input_tokens)
}

/** A conversation of more than 90,000 tokens in which results were cleared, and that continued for some requests. */
async function cleared(by: Clearing) {
  const pauses = by === "by-time"
  const script = pauses
    ? [...rounds(12, LONG_RESULT), ...rounds(9, LONG_RESULT), "Back.", "Again."]
    : [...rounds(24, LONG_RESULT), "Back.", "Again."]
  const { sim, agent } = await working(script, { ...SETTINGS[by], planner: "off" }) // otherwise it would compact before
  await query(agent, `Look at all of it. ${RULE}`)
  if (pauses) {
    sim.clock.advance(61 * MINUTE)
    await query(agent, "Look again. Always use tabs.")
  }
  const found =
    by === "by-api" ? await decisions(agent, "server-edited") : await decisions(agent, "tool-results-cleared")
  expect(found.length).toBeGreaterThan(0)
  return { sim, agent }
}

describe.each<Clearing>(["by-api", "by-size", "by-time"])("L7-1 forks of a long conversation cleared %s", (by) => {
  test("read the conversation's cache, and each request of a fork what the one before wrote", async () => {
    const { sim, agent } = await cleared(by)
    const [notes, memory] = [await forksFor(agent, "notes"), await forksFor(agent, "memory")]
    expect(memory.length).toBeGreaterThanOrEqual(2) // one reads, one writes
    expect(notes.length).toBeGreaterThanOrEqual(1)
    for (const usage of [...notes, ...memory]) expect(shareRead(usage)).toBeGreaterThan(MIN_READ)
    const last = memory.slice(-2)
    expect(last.slice(1).map((usage) => usage.cache_read_input_tokens)).toEqual(last.slice(0, -1).map(cachedAfter))

    const before = usagesOf(agent).at(-1)!
    await query(agent, "and now?")
    expect(usagesOf(agent).at(-1)!.cache_read_input_tokens).toBe(cachedAfter(before))

    await agent.conversation.compact()
    const [summary] = await forksFor(agent, "by-hand")
    expect(shareRead(summary!)).toBeGreaterThan(MIN_READ)
    expect(summary!.cache_creation_input_tokens).toBe(0)
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  })
})
