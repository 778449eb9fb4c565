/** The next request is valid after any answer: malformed inputs, unknown tools, duplicate ids, empty answers. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { malformedResponder } from "../../../../sim/src/responders/malformed.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import { fuzz } from "../../runs.ts"
import { size } from "../../size.ts"
import { agentFor, ask, project } from "./agents.ts"

const CONVERSATIONS = Math.max(size(2, 15), Math.round(fuzz.numRuns! / 25)) // about twenty requests over HTTP each

test("LOOP-3, invariant 1: after any answer of a model the next request is valid", async () => {
  const refused: string[] = []
  const ends = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const sim = await simulator({ responder: malformedResponder(seed), seed })
      const agent = await agentFor(sim, project({ "a.txt": "x" }), { mode: "bypass" })
      for (const prompt of ["one", "two", "three"]) {
        const { end } = await ask(agent, prompt, { maxTurns: 6 })
        ends.set(end.reason, (ends.get(end.reason) ?? 0) + 1)
        if (end.reason === "error") throw new Error(end.message)
      }
      refused.push(...sim.log.filter(({ status }) => status === 400).map((entry) => JSON.stringify(entry)))
      await agent.close()
      await sim.close()
    }),
    { ...fuzz, numRuns: CONVERSATIONS },
  )
  expect(refused).toEqual([])
  expect([...ends.keys()].sort()).toEqual(expect.arrayContaining(["answer"]))
})
