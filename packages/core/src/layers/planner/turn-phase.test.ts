/** BEY-4: what `balanced` may interrupt, and what it risks, on artificial conversations. */
import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { isWhole } from "../../../test/size.ts"
import type { Entry } from "../../journal/entries.ts"
import { createFlags } from "../../settings/flags.ts"
import { DEFAULT_SETTINGS, type Settings } from "../../settings/settings.ts"
import { findModel } from "../../tokens/models.ts"
import { resolveThresholds } from "../../tokens/window.ts"
import { Views } from "../../views/views.ts"
import type { LayerContext } from "../layer.ts"
import { mayRisk, plannedCompaction, plannerInputs, preparesNow, turnPhase } from "./planner.ts"

const MODEL = "claude-opus-4-6"
const { facts } = findModel(MODEL)
const usage = (tokens: number) => ({
  ...{ input_tokens: 3, output_tokens: 200, cache_read_input_tokens: tokens, cache_creation_input_tokens: 500 },
})

interface Talk {
  /** Number of responses so far, the context of each, and the last message. */
  readonly responses: number
  readonly tokens: number
  readonly ends: "answered" | "result" | "request"
  readonly settings?: Partial<Settings>
  readonly idleMinutes?: number
}

function contextOf({ responses, tokens, ends, settings = {}, idleMinutes = 1 }: Talk): LayerContext {
  const talk = conversation().user("Do it.")
  for (let at = 0; at < responses - 1; at++) {
    talk.call("Read", {}, { model: MODEL, usage: usage(tokens) }).result("Words.")
    if (at === responses - 10) talk.say("Done.", { model: MODEL, usage: usage(tokens) }).user("And that?")
  }
  if (ends === "result") talk.call("Read", {}, { model: MODEL, usage: usage(tokens) }).result("Words.")
  else talk.say("Done.", { model: MODEL, usage: usage(tokens) })
  if (ends === "request") talk.user("Go on.")
  const views = new Views({ family: facts.family })
  for (const entry of talk.messages) views.apply(entry as Entry)
  const last = Date.parse(views.context.lastResponse!.timestamp)
  const flags = createFlags({ settings: { ...DEFAULT_SETTINGS, ...settings } }).current
  const thresholds = resolveThresholds({ window: 200_000, facts, maxOutput: 32_000, autoCompact: true })
  const size = { tokens }
  const now = new Date(last + idleMinutes * 60_000)
  const fill = { used: tokens, state: "fine" }
  return { views, flags, facts, model: MODEL, size, fill, thresholds, now } as unknown as LayerContext
}

const LONG = { responses: 150, tokens: 105_000 } as const

describe("BEY-4 balanced", () => {
  test.runIf(isWhole)("knows a pause, a new request, and a task under way", () => {
    expect(turnPhase(contextOf({ ...LONG, ends: "result" }))).toBe("task")
    expect(turnPhase(contextOf({ ...LONG, ends: "request" }))).toBe("request")
    expect(turnPhase(contextOf({ ...LONG, ends: "result", idleMinutes: 9 }))).toBe("pause")
  })

  test.runIf(isWhole)("installs a prepared summary there, and never in a task", () => {
    const planned = (ends: Talk["ends"], more: Partial<Talk> = {}, newer: number | "not ready" = 0) => {
      const tail = newer === "not ready" ? undefined : { tokens: newer, shortened: newer }
      return plannedCompaction(contextOf({ ...LONG, ends, ...more }), tail) !== undefined
    }
    expect(planned("request")).toBe(true)
    expect(planned("result", { idleMinutes: 9 })).toBe(true)
    expect(planned("result")).toBe(false)
    expect(planned("request", {}, "not ready")).toBe(false)
    expect(planned("request", {}, 80_000)).toBe(false) // what would be preserved verbatim leaves too little to gain
    expect(planned("request", { settings: { planner: "off" } })).toBe(false)
    expect(planned("result", { settings: { planner: "economy" } }, "not ready")).toBe(true)
  })

  test.runIf(isWhole)("has one written when the agent has answered, never while it works", () => {
    const prepares = (timing: "working" | "answered", more: Partial<Talk> = {}) =>
      preparesNow(contextOf({ ...LONG, ends: "answered", ...more }), { timing, turns: 3 })
    expect(prepares("working")).toBe(false)
    expect(prepares("answered")).toBe(true)
    expect(prepares("answered", { tokens: 68_000 })).toBe(false) // less than 42% of the threshold
    expect(prepares("answered", { idleMinutes: 9 })).toBe(false) // it would be read at full price
    expect(prepares("answered", { settings: { figures: { "compact-early": 60_000 } }, tokens: 80_000 })).toBe(true)
  })

  test("risks no summary near the start of a conversation", () => {
    const risks = (responses: number) => {
      const context = contextOf({ responses, tokens: 105_000, ends: "answered" })
      return mayRisk(context, plannerInputs(context))
    }
    expect(risks(10)).toBe(false)
    expect(risks(150)).toBe(true)
  })
})
