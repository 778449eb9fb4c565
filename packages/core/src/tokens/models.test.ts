import { describe, expect, test } from "vitest"
import { combineSettings } from "../settings/settings.ts"
import { canonicalModelId, findModel, MODEL_FACTS, requestModelName, requestsLongContext } from "./models.ts"

describe("WIN-8 a model by any of its names", () => {
  test.each([
    ["claude-sonnet-4-5", "claude-sonnet-4-5"],
    ["Claude-Sonnet-4-5", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
    ["claude-3-7-sonnet-latest", "claude-3-7-sonnet"],
    ["anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"],
    ["openrouter/anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"],
    ["anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
    ["global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"],
    ["claude-sonnet-4-5[1m]", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5-20250929 [1M]", "claude-sonnet-4-5"],
    ["claude-opus-4-20250514", "claude-opus-4"],
    ["gpt-5-codex", "gpt-5-codex"],
    ["openai/gpt-5.4-2026-03-05", "gpt-5.4"],
    ["models/gemini-2.5-pro", "gemini-2.5-pro"],
  ])("%s is %s", (name, id) => {
    expect(canonicalModelId(name)).toBe(id)
  })

  test.each(MODEL_FACTS)("$id is found by its own name, with a date, and with a provider in front", (facts) => {
    for (const name of [facts.id, `${facts.id}-20260101`, `us.anthropic.${facts.id}-20260101-v1:0`]) {
      expect(findModel(name)).toEqual({ known: true, facts })
    }
  })

  test("4.1 is not 4, and 5.5 is not 5", () => {
    expect(findModel("claude-opus-4-1-20250805").facts.id).toBe("claude-opus-4-1")
    expect(findModel("claude-opus-4-20250514").facts.id).toBe("claude-opus-4")
    expect(findModel("claude-opus-5-5").facts.price).not.toEqual(findModel("claude-opus-5").facts.price)
  })
})

describe("WIN-1 the [1m] suffix", () => {
  test.each([
    ["claude-sonnet-4-5[1m]", true, "claude-sonnet-4-5"],
    ["claude-sonnet-4-5 [1M]", true, "claude-sonnet-4-5"],
    ["claude-sonnet-4-5", false, "claude-sonnet-4-5"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", false, "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ])("%s asks for a million: %s, and is sent as %s", (name, asks, sent) => {
    expect(requestsLongContext(name)).toBe(asks)
    expect(requestModelName(name)).toBe(sent)
  })
})

describe("WIN-8 an unknown model", () => {
  test("says so, has no price and takes nothing that could be refused", () => {
    const lookup = findModel("someone/else-7b")
    expect(lookup).toMatchObject({ known: false, notice: expect.stringContaining('The model "else-7b"') })
    expect(lookup.facts).toMatchObject({ id: "else-7b", family: "unknown", window: 200_000 })
    expect(lookup.facts.price).toBeUndefined()
    const { overflowingOutput, prefill, systemMessages, contextManagement, cacheEditing } = lookup.facts.accepts
    expect([overflowingOutput, prefill, systemMessages, contextManagement, cacheEditing]).not.toContain(true)
  })

  test.each([
    ["gpt-5.5", { input: 5, cacheRead: 0.5, output: 30, cacheWrite5m: 5 }],
    ["gpt-6.1-sol", { input: 2, cacheRead: 0.1, output: 10, cacheWrite5m: 2.5 }],
    ["gemini-2.5-flash", { input: 0.3, cacheRead: 0.03, output: 2.5 }],
  ])("BEY-15 the price of %s is known although its window is not", (name, price) => {
    const { known, facts } = findModel(name)
    expect(known).toBe(false)
    expect(facts).toMatchObject({ window: 200_000, price })
  })

  test.each([
    ["gpt-5.5", 272_000, 45],
    ["gemini-2.5-pro", 200_000, 15],
  ])("BEY-15 long prompts of %s cost more above %i tokens", (name, above, output) => {
    expect(findModel(name).facts.longPrompt).toMatchObject({ above, price: { output } })
  })

  test("BEY-15 a model that is sold under no public price stays without one, and so does a name that is only alike", () => {
    for (const name of ["gpt-5.3-codex-spark", "gpt-5.5-turbo", "gemini-9"])
      expect(findModel(name).facts.price).toBeUndefined()
  })

  test("also where it is named like something every object has", () => {
    expect(findModel("constructor")).toMatchObject({ known: false, facts: { id: "constructor" } })
  })

  test.each([
    ["claude-poet-5", "claude-5"],
    ["claude-poet-5-9", "claude-5"],
    ["claude-2-1", "claude-4"],
    ["gpt-5-codex", "gpt-5"],
    ["o4-mini", "gpt-5"],
    ["gemini-3", "unknown"],
  ])("%s is still counted like its family: %s", (name, family) => {
    expect(findModel(name)).toMatchObject({ known: false, facts: { family } })
  })

  test("is known once settings say something about it; its price stays unknown until they do", () => {
    const lookup = findModel("else", { else: { window: 64_000 } })
    expect(lookup).toMatchObject({ known: true, facts: { id: "else", window: 64_000, maxOutput: 32_000 } })
    expect(lookup.facts.price).toBeUndefined()
  })
})

describe("WIN-8 settings over the data", () => {
  const before = structuredClone(findModel("claude-opus-4-6").facts)

  test("change what they name and leave the rest", () => {
    const overrides = { "claude-opus-4-6": { window: 64_000, accepts: { prefill: true } } }
    const { facts } = findModel("anthropic/claude-opus-4-6-20260101", overrides)
    expect(facts).toEqual({ ...before, window: 64_000, accepts: { ...before.accepts, prefill: true } })
    expect(findModel("claude-opus-4-6").facts).toEqual(before) // the table itself is unchanged
  })

  test("are found under the full name, too", () => {
    const name = "us.anthropic.claude-opus-4-6-20260101-v1:0"
    expect(findModel(name, { [name]: { window: 5 } }).facts.window).toBe(5)
  })
})

test("settings can say of a model whatever the facts say it accepts", async () => {
  const { accepts } = findModel("claude-opus-4-6").facts
  const { values } = await combineSettings([{ source: "test", values: { models: { "claude-x": { accepts } } } }])
  expect(findModel("claude-x", values.models).facts.accepts).toEqual(accepts)
})
