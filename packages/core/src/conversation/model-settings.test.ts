import { expect, test } from "vitest"
import type { Model } from "../model/model.ts"
import { findModel } from "../tokens/models.ts"
import { modelSettings } from "./prompt.ts"

const reached = (name: string, omits?: Model["omits"]): Model => ({
  name,
  provider: "test",
  facts: findModel(name).facts,
  ...(omits ? { omits } : {}),
  async *stream() {},
})

test("L2-5 a feature that the adapter does not pass on is not accepted; all other settings stay", () => {
  const known = { "claude-opus-5": { window: 300_000, accepts: { prefill: true } } }
  const models = modelSettings(reached("anthropic/claude-opus-5", ["contextManagement", "cacheEditing"]), known)
  const { facts } = findModel("anthropic/claude-opus-5", { ...known, ...models })
  expect(facts).toMatchObject({ window: 300_000, accepts: { prefill: true, contextManagement: false } })
})

test("without anything to say an unknown model stays unknown", () => {
  expect(modelSettings(reached("claude-opus-5"), {})).toEqual({})
  expect(modelSettings(reached("some-local-model", ["contextManagement"]), {})).toEqual({})
})

test("WIN-8 a model of your own brings its facts, and settings win over them", () => {
  const own = { ...findModel("mine").facts, window: 64_000, maxOutput: 4_000 }
  const model = { ...reached("mine"), facts: own }
  expect(findModel("mine", modelSettings(model, {}))).toMatchObject({ known: true, facts: { window: 64_000 } })
  const known = { mine: { window: 32_000 } }
  expect(findModel("mine", { ...known, ...modelSettings(model, known) }).facts.window).toBe(32_000)
})

test("WIN-8 the provider's statement of what a model accepts is kept, also where nothing else differs", () => {
  const { facts } = findModel("claude-opus-7")
  const model = {
    ...reached("claude-opus-7"),
    facts: { ...facts, accepts: { ...facts.accepts, contextManagement: true } },
  }
  expect(findModel("claude-opus-7", modelSettings(model, {}))).toMatchObject({
    known: true,
    facts: { accepts: { contextManagement: true } },
  })
  const omitting = { ...model, omits: ["contextManagement"] as const }
  expect(findModel("claude-opus-7", modelSettings(omitting, {})).facts.accepts.contextManagement).toBe(false)
})
