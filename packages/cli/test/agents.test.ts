/** Agents that work for the agent of `strata run`, as real processes over HTTP against the simulator. */
import type { BrainTurn } from "@strata/sim"
import { expect, test } from "vitest"
import { calls, workbench } from "./workbench.ts"

const agentCall = (prompt: string, more: object = {}) =>
  calls({ Agent: { description: "Count the files", prompt, ...more } })

test("L7-4: strata run waits for its background agents, and each uses the model it was given", async () => {
  const waits = Promise.withResolvers<void>()
  const models: string[] = []
  await using bench = await workbench({
    turns: [
      agentCall("[slow] Count.", { run_in_background: true, model: "haiku" }),
      () => {
        waits.resolve()
        return "I wait."
      },
      "It counted 3.",
      ({ request }: BrainTurn) => `Tools: ${request.tools?.map(({ name }) => name).join(" ")}`,
    ],
    cast: {
      slow: [
        async ({ request }) => {
          models.push(request.model)
          await waits.promise
          return "There are 3."
        },
      ],
    },
  })
  const { code, stdout, stderr } = await bench.strata(["run", "Count in the background."]).ended
  expect(stdout).toBe("I wait.\nIt counted 3.\n")
  expect(stderr).toContain("- attached: report of the agent agent-1\n")
  expect(code).toBe(0)
  expect(models[0]).toMatch(/^claude-haiku/)
  const alone = await bench.strata(["run", "--no-agents", "Work alone."]).ended
  expect(alone.stdout).toMatch(/^Tools: /)
  expect(alone.stdout).not.toMatch(/Agent|SendMessage/)
})
