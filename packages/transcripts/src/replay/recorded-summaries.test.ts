import type { Entry } from "@strata/core"
import type { DecisionDraft } from "@strata/core/store"
import { expect, test } from "vitest"
import { createEstimator } from "../../../core/src/tokens/estimate.ts"
import { conversation } from "../../../core/test/builders.ts"
import { measureRecording } from "./measured-recording.ts"

const MODEL = "claude-opus-4-6"
const TEXT = "The parser now reads every line twice, and the tests of the writer fail. ".repeat(40)
const usage = (input: number, output = 50) => ({ input_tokens: input, output_tokens: output })

function work(share: number) {
  const { family } = { family: "claude-4" as const }
  const tokens = createEstimator(family).text(TEXT) * share
  const built = conversation().user("Look.")
  for (let i = 0; i < 12; i++)
    built.call("Bash", { command: "look" }, { usage: usage(Math.round(10_000 + i * (tokens + 50))) }).result(TEXT)
  return { built, tokens }
}

test("CACHE-5 a text that no request had is counted like those that were counted", () => {
  const { built, tokens } = work(0.6)
  const { sizes } = measureRecording({ entries: built.messages, model: MODEL })
  const own = sizes.of({ type: "text", text: `${TEXT}And that is all.` })
  expect(own / tokens).toBeGreaterThan(0.9)
  expect(own / tokens).toBeLessThan(1.15)
})

test("CACHE-5 one of our own journals says how long its summaries are, and what asking for them took", () => {
  const { built } = work(1)
  built
    .boundary()
    .user(`Summary: ${TEXT.repeat(3)}`, { isCompactSummary: true })
    .say("On.", { usage: usage(12_000) })
  const at = built.messages.findIndex(({ type }) => type === "system")
  const journal = (...decisions: readonly DecisionDraft[]): Entry[] => {
    const place = { parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" }
    const placed = decisions.map((decision, i) => ({ ...place, uuid: `d${i}`, ...decision }) as Entry)
    return [...built.messages.slice(0, at), ...placed, ...built.messages.slice(at)]
  }
  const spent = (id: string, input: number, output: number): DecisionDraft => ({
    ...{ type: "strata", subtype: "spent", purpose: "compaction", model: MODEL, responseId: id },
    usage: usage(input, output),
  })
  const compacted: DecisionDraft = {
    ...{ type: "strata", subtype: "compacted", boundary: built.messages[at]!.uuid, kept: [], trigger: "auto" },
    ...{ route: "shared", tokensBefore: 20_000, tokensAfter: 12_000, threshold: 50_000 },
  }
  const { summaries } = measureRecording({
    entries: journal(spent("a", 20_000, 3_000), spent("b", 7_000, 900), compacted),
    model: MODEL,
  })
  expect(summaries).toMatchObject({ output: 3_000, again: { input: 7_000, output: 900 } })
  expect(summaries!.budget).toBeGreaterThan(1_000)
  expect(measureRecording({ entries: built.messages, model: MODEL }).summaries).toBeUndefined()
})
