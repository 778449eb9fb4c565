import { expect, test } from "vitest"
import type { Model } from "../model/model.ts"
import { findModel } from "../tokens/models.ts"
import { withoutOmitted } from "./carried-features.ts"

const reached = (name: string, omits?: Model["omits"]): Model => ({
  name,
  provider: "test",
  facts: findModel(name).facts,
  ...(omits ? { omits } : {}),
  async *stream() {},
})

test("L2-5 what the way to a model does not carry is not accepted; everything else stays as it was said", () => {
  const known = { "claude-opus-5": { window: 300_000, accepts: { prefill: true } } }
  const models = withoutOmitted(reached("anthropic/claude-opus-5", ["contextManagement", "cacheEditing"]), known)
  const { facts } = findModel("anthropic/claude-opus-5", { ...known, ...models })
  expect(facts).toMatchObject({ window: 300_000, accepts: { prefill: true, contextManagement: false } })
})

test("nothing is said where nothing is lost, so that an unknown model stays unknown", () => {
  expect(withoutOmitted(reached("claude-opus-5"), {})).toEqual({})
  expect(withoutOmitted(reached("some-local-model", ["contextManagement"]), {})).toEqual({})
})
