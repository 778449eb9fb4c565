/** A plan's cost estimate against the simulator's bill. */
import { expect, test } from "vitest"
import { frozenClock } from "../../../../sim/src/clock.ts"
import { isWhole } from "../../size.ts"
import { ask } from "../agent/agents.ts"
import { compactingAgent, compactingSimulator, MODELS_ONLY } from "./compacting.ts"

const HOUR = 3_600_000
const PER_MILLION = 1_000_000
const SUMMARY = 20_000 // maximum tokens of a summary

test.runIf(isWhole)("BEY-20 a long text that the summariser gets shortened is not paid for in full", async () => {
  const clock = frozenClock(Date.parse("2026-11-15T12:00:00Z"))
  const { sim } = await compactingSimulator(["I see.", "Yes."], { clock })
  const agent = await compactingAgent(sim, { window: 400_000, settings: MODELS_ONLY })
  await ask(agent, Array.from({ length: 5_000 }, (_, at) => `Line ${at} says that all is well.`).join(" "))
  await ask(agent, "Is it?")
  await clock.advance(2 * HOUR)
  const { conversation: chat } = agent
  const plan = await chat.planCompaction()
  if (plan.kind === "refused") throw new Error(plan.message)
  expect(plan.routes[0]).toBe("direct")
  const before = sim.stats().total
  await chat.compact()
  const read = sim.stats().total.inputTokens - before.inputTokens
  const { input, output } = agent.model.facts.price!
  const min = (read * input) / PER_MILLION
  expect(plan.dollars).toBeGreaterThan(min * 0.8)
  expect(plan.dollars).toBeLessThan(min * 1.2 + (SUMMARY * output) / PER_MILLION / 2)
  expect(read).toBeLessThan(plan.summarised.tokens / 2)
})
