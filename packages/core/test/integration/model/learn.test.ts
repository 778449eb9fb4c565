/** WIN-8: models that are not in the data file. */
import { describe, expect, test } from "vitest"
import { simulator } from "../../../../sim/test/simulator.ts"
import { ask, modelAt, play } from "./model.ts"

const NEW = "claude-opus-7"

describe("WIN-8 what a model can do", () => {
  test("the API is not asked about a known model", async () => {
    const sim = await simulator()
    const model = modelAt(sim)
    expect(await model.learn()).toEqual({ known: true, facts: model.facts })
    expect(model.facts).toMatchObject({ id: "claude-opus-5", window: 1_000_000 })
    expect(sim.log).toHaveLength(0)
  })

  test("the API is asked about an unknown model: window, output and capabilities come from it, the price stays unknown", async () => {
    const accepts = { adaptiveThinking: true, thinkingBudget: false, contextManagement: true }
    const sim = await simulator({ models: { [NEW]: { window: 3_000_000, maxOutput: 256_000, accepts } } })
    const model = modelAt(sim, { model: `${NEW}[1m]` })
    expect(model.facts.window).toBe(200_000)
    expect(await model.learn()).toMatchObject({ known: true })
    expect(model.facts).toMatchObject({ id: NEW, window: 3_000_000, maxOutput: 256_000, accepts })
    expect(model.facts.price).toBeUndefined()
    expect(sim.log.map(({ path }) => path)).toEqual([`/v1/models/${NEW}`])
    await model.learn()
    expect(sim.log).toHaveLength(1)
    expect((await play(model, ask({ model: NEW }))).response?.model).toBe(NEW)
  })

  test("a model the API does not know either gets safe defaults and a notice", async () => {
    const sim = await simulator()
    const model = modelAt(sim, { model: "nobody-knows-it" })
    const learned = await model.learn()
    expect(learned).toMatchObject({ known: false, facts: { window: 200_000, maxOutput: 32_000 } })
    expect(learned).toHaveProperty(
      "notice",
      expect.stringMatching(/"nobody-knows-it".*200,000.*said: "model: nobody-knows-it"$/s),
    )
  })

  test("figures from the settings need no question to the API", async () => {
    const sim = await simulator()
    const model = modelAt(sim, { model: NEW, models: { [NEW]: { window: 5_000 } } })
    expect(await model.learn()).toMatchObject({ known: true, facts: { window: 5_000 } })
    expect(sim.log).toHaveLength(0)
  })
})
