/** Long notes still serve as a summary, cut to size. */
import { expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { ask } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, NOTES_OF, textsOf } from "./compacting.ts"

test("L4-8 a section over its limit is cut, with a pointer to the rest", async () => {
  const lines = Array.from({ length: 500 }, (_, n) => `Step ${n} of the work was done.`).join("\n")
  const { sim, of } = await compactingSimulator(rounds(10, 4_000), NOTES_OF(lines))
  const figures = { "tail-min": 1_000, "tail-max": 5_000, "summary-budget": 20_000, "compact-target": 100 } // the window is small
  const switches = { "compact-audit": false } // the steps are invented, which the audit would find
  const agent = await compactingAgent(sim, { settings: { figures, switches } })
  await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
  expect((await decisionsOf(agent, "compacted"))[0]).toMatchObject({ route: "notes" })
  const summary = of("work")
    .flatMap(({ request }) => textsOf(request))
    .find((text) => text.includes("Summary:"))!
  const steps = summary.match(/^Step \d+ of the work was done\.$/gm)!
  expect(steps.slice(0, 2)).toEqual(["Step 0 of the work was done.", "Step 1 of the work was done."])
  expect(engineOf(agent.conversation).views.estimator.text(steps.join("\n"))).toBeLessThan(2_000)
  expect(summary).toMatch(/session-memory\/[\w-]+\.md/)
})
