/**
 * The simulator accepts what Strata's validator accepts. Valid requests are mutated at random and sent over HTTP if the validator finds
 * nothing wrong. `FUZZ_RUNS` sets how many, `FUZZ_SEED` which ones.
 */
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Simulator, startSimulator } from "../../../sim/src/start.ts"
import { post, scripted } from "../../../sim/test/simulator.ts"
import type { ModelRequest } from "../../src/messages/request.ts"
import { validateRequest } from "../../src/messages/validate/validator.ts"
import { findModel } from "../../src/tokens/models.ts"
import { mutatedRequests, VALID_REQUESTS } from "../request-mutations.ts"
import { size } from "../size.ts"

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? size(25, 100)), seed: Number(process.env.FUZZ_SEED ?? 1) }
let sim: Simulator

beforeAll(async () => {
  sim = await startSimulator({ responder: scripted(), bindThinking: "off" }) // the signatures here are invented
})
afterAll(() => sim.close())

/** The simulator's reason to refuse the request, if it does. */
async function refusal(request: unknown): Promise<string | undefined> {
  const response = await post(sim, request)
  const body = await response.text()
  return response.status === 400 ? body : undefined
}

function violations(request: unknown) {
  const { model } = request as { model?: unknown }
  return validateRequest({
    request: request as ModelRequest,
    model: findModel(typeof model === "string" ? model : "").facts,
  })
}

test("MSG-14 both accept the valid requests", async () => {
  for (const request of VALID_REQUESTS) {
    expect(violations(request)).toEqual([])
    expect(await refusal(request)).toBeUndefined()
  }
})

test("MSG-14 property: the simulator accepts every request in which the validator finds nothing", async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(mutatedRequests, async (request) => {
      if (violations(request).length > 0) return
      accepted++
      const why = await refusal(request)
      if (why !== undefined) throw new Error(`${why}\n${JSON.stringify(request)}`)
    }),
    RUNS,
  )
  expect(accepted).toBeGreaterThan(RUNS.numRuns / 20)
})
