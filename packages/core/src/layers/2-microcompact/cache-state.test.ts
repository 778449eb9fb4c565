import { expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { usageOf } from "../../../test/ledger-entries.ts"
import { findModel } from "../../tokens/models.ts"
import { computeWindowUsage, resolveThresholds } from "../../tokens/window.ts"
import { Views } from "../../views/views.ts"
import { cacheState } from "./clearable-content.ts"

const START = Date.parse("2026-01-01T00:00:00.000Z")
const { facts } = findModel("claude-opus-4-6")
/** Thresholds that compact at 167,000 tokens if that is switched on, and block requests from 177,000 tokens. */
const thresholdsWith = (autoCompact: boolean) =>
  resolveThresholds({ window: 200_000, facts, maxOutput: 20_000, autoCompact })
const THRESHOLDS = thresholdsWith(true)
const FINE = { used: 1, percentLeft: 99, state: "fine" } as const

test.each([
  ["five minutes", { write: 900 }, 5],
  ["an hour", { write1h: 900, read: 5_000 }, 60],
])(
  "L2-10 a cache that was written for %s is warm as long, and clearing in it is not free",
  (_name, billing, minutes) => {
    const views = new Views({ family: "claude-4" })
    for (const message of conversation()
      .user("go")
      .say("so", { usage: usageOf(billing) }).messages)
      views.apply(message)
    const at = (minute: number) =>
      cacheState({
        views,
        model: "claude-opus-4-6",
        now: new Date(START + minute * 60_000),
        fill: FINE,
        thresholds: THRESHOLDS,
      }).state
    expect([at(minutes), at(minutes + 0.1)]).toEqual(["warm", "cold"])
  },
)

test("L2-10 an answer that was broken off, or an error shown in place of one, says nothing about the cache", () => {
  const views = new Views({ family: "claude-4" })
  const usage = usageOf({ write1h: 900 })
  const nothing = usageOf({})
  for (const message of conversation()
    .user("go")
    .say("so", { usage })
    .user("on")
    .say("half an ans")
    .user("and")
    .say("API Error: overloaded", { model: "<synthetic>", isApiErrorMessage: true, usage: nothing }).messages)
    views.apply(message)
  const now = new Date(START + 50 * 60_000)
  expect(cacheState({ views, model: "claude-opus-4-6", now, fill: FINE, thresholds: THRESHOLDS })).toEqual({
    state: "warm",
  })
})

test.each([
  ["compacted", true, [166_999, 167_500]],
  ["sent no more, as nothing is compacted by itself", false, [176_999, 177_500]],
] as const)(
  "L2-10 a cache is about to be lost where the context must be %s, and it is known by how much",
  (_, auto, used) => {
    const views = new Views({ family: "claude-4" })
    for (const message of conversation()
      .user("go")
      .say("so", { usage: usageOf({ write: 900 }) }).messages)
      views.apply(message)
    const thresholds = thresholdsWith(auto)
    const at = (tokens: number) => {
      const fill = computeWindowUsage(tokens, thresholds, auto)
      return cacheState({ views, model: "claude-opus-4-6", now: new Date(START), fill, thresholds })
    }
    expect(used.map(at)).toEqual([{ state: "warm" }, { state: "leaving", excess: 500 }])
  },
)
