/** The summariser against the simulator when a call fails: too long, empty, cut off, an error, stopped. */
import { describe, expect, test } from "vitest"
import type { Answer } from "../../../../sim/src/responder.ts"
import { MODEL } from "../../../../sim/test/simulator.ts"
import type { SummaryOutcome } from "../../../src/layers/4-compaction/summarise/direct.ts"
import { TRUNCATED } from "../../../src/layers/4-compaction/summarise/shared.ts"
import { conversation } from "../../builders.ts"
import { firstText, LINE, lastText, summarise, textOf, work } from "./summarising.ts"

describe("L4-15 the request itself is too long", () => {
  /** The client assumes a larger window than the server has. */
  const refused = { window: 1_000_000, sim: { models: { [MODEL]: { window: 20_000 } } } }

  test("the gap in the error is covered by dropping the oldest rounds", async () => {
    const { outcome, requests, sim } = await summarise(work(150), refused)
    expect(sim.log.map(({ status }) => status)).toEqual([400, 200])
    expect(firstText(requests[0]!)).toBe(TRUNCATED)
    expect(textOf(outcome)).toContain("/repo/src/file-149.ts")
    expect(textOf(outcome)).not.toContain("/repo/src/file-1.ts")
    const { dropped } = outcome as Extract<SummaryOutcome, { kind: "summary" }>
    expect(dropped).toBeGreaterThan(90)
    expect(dropped).toBeLessThan(150) // of 166: the rest fills the window except for the share of the answer
  })

  test("without a figure a fifth of the rounds is dropped each time", async () => {
    const messages = work(40)
    const maxRequestBytes = Math.floor(Buffer.byteLength(JSON.stringify(messages)) * 0.65)
    const { outcome, requests, sim } = await summarise(messages, { sim: { maxRequestBytes } })
    expect(sim.log.map(({ status }) => status)).toEqual([413, 413, 200])
    expect(
      requests[0]!.messages.flatMap(({ content }) => content).filter(({ text }) => text === TRUNCATED),
    ).toHaveLength(1)
    expect(outcome).toMatchObject({ kind: "summary", dropped: 16 }) // a fifth of 45, then of 36
  })

  test("still too long after three retries", async () => {
    const { outcome, sim } = await summarise(work(60), { sim: { maxRequestBytes: 2_000 } })
    expect(sim.log.map(({ status }) => status)).toEqual([413, 413, 413, 413])
    expect(outcome).toMatchObject({ kind: "failed", reason: "prompt_too_long", responses: [] })
  })

  test("only one round: it is cut harder", async () => {
    const { messages } = conversation().user(LINE.repeat(3_000))
    const { outcome, sim } = await summarise(messages, {
      window: 1_000_000,
      sim: { models: { [MODEL]: { window: 8_000 } } },
      answers: [`<summary>\n${LINE.repeat(3_000)}\n</summary>`],
    })
    // the first answer fills the window before its summary ends, so the round is cut once more
    expect(sim.log.map(({ status, stopReason }) => stopReason ?? status)).toEqual([
      400,
      "model_context_window_exceeded",
      "end_turn",
    ])
    expect(outcome.kind).toBe("summary")
  })

  test("an answer that says so counts too", async () => {
    const { outcome, requests } = await summarise(work(20), { answers: ["Prompt is too long"] })
    expect(requests).toHaveLength(2)
    expect(outcome).toMatchObject({ kind: "summary", dropped: 4, responses: [{}, {}] })
  })
})

describe("L4-13 temporary failures are retried, twice", () => {
  const nothing: Answer = { content: [] }

  test("an empty answer", async () => {
    const { outcome, requests } = await summarise(work(2), { answers: [nothing, " "] })
    expect(outcome.kind).toBe("summary")
    expect(requests).toHaveLength(3)
    expect(outcome.responses).toHaveLength(3)
  })

  test.each([
    ["nothing but empty answers", nothing, "no_summary"],
    ["an error's text in place of an answer", "API Error: 529 Overloaded", "api_error"],
    [
      "a refusal",
      { content: [{ type: "text", text: "I would rather not." }], stopReason: "refusal" } as Answer,
      "no_summary",
    ],
  ])("L4-12 %s is a failure, and its cost is reported", async (_, answer, why) => {
    const { outcome, requests } = await summarise(work(2), { answers: [answer, answer, answer, answer] })
    expect(outcome).toMatchObject({ kind: "failed", reason: why, responses: [{}, {}, {}] })
    expect(requests).toHaveLength(3)
  })

  test("an answer cut before its summary: the next try is asked to leave out the analysis", async () => {
    const cut: Answer = { content: [{ type: "text", text: "<analysis>\nIt began with" }], stopReason: "max_tokens" }
    const { outcome, requests } = await summarise(work(2), { answers: [cut] })
    expect(outcome.kind).toBe("summary")
    expect(lastText(requests[0]!)).not.toMatch(/Leave the analysis out/)
    expect(lastText(requests[1]!)).toMatch(/Leave the analysis out/)
  })

  const halfSummary = "<analysis>hm</analysis><summary>\n1. Primary Request and Intent: move the par"

  test.each(["max_tokens", "pause_turn"] as const)(
    "L4-12 half a summary (%s) is refused, and asked for again",
    async (stopReason) => {
      const cut: Answer = { content: [{ type: "text", text: halfSummary }], stopReason }
      const { outcome, requests } = await summarise(work(2), { answers: [cut] })
      expect(textOf(outcome)).toContain("move the parser")
      expect(requests).toHaveLength(2)
      expect(lastText(requests[1]!)).toMatch(/Leave the analysis out/)
    },
  )

  test("L4-12 a summary that is cut every time is a failure after three answers", async () => {
    const cut: Answer = { content: [{ type: "text", text: halfSummary }], stopReason: "max_tokens" }
    const { outcome, requests } = await summarise(work(2), { answers: [cut, cut, cut, cut] })
    expect(outcome).toMatchObject({
      kind: "failed",
      reason: "no_summary",
      message: "the model's answer was cut off",
      responses: [{}, {}, {}],
    })
    expect(requests).toHaveLength(3)
  })

  test("a stream that breaks off, with a model that does not retry by itself", async () => {
    const faults = [{ fault: { kind: "cut-socket", afterEvents: 6 } as const, times: 2 }]
    const { outcome, sim } = await summarise(work(2), { sim: { faults }, model: { maxAttempts: 1 } })
    expect(outcome.kind).toBe("summary")
    expect(sim.log).toHaveLength(3)
  })

  test("with a model that retries, its error is final", async () => {
    const faults = [{ fault: { kind: "early-end", afterEvents: 6 } as const }]
    const { outcome, sim } = await summarise(work(2), { sim: { faults }, model: { maxAttempts: 2 } })
    expect(outcome).toMatchObject({ kind: "failed", reason: "api_error" })
    expect(sim.log).toHaveLength(2)
  })

  test("permanent failures are not retried", async () => {
    const { outcome, sim } = await summarise(work(2), { sim: { apiKeys: ["another"] } })
    expect(outcome).toMatchObject({ kind: "failed", reason: "api_error", responses: [] })
    expect(sim.log).toHaveLength(1)
  })
})

describe("L4-14 stopping", () => {
  test("before it begins", async () => {
    const { outcome, sim } = await summarise(work(2), { options: { signal: AbortSignal.abort() } })
    expect(outcome).toMatchObject({ kind: "failed", reason: "aborted", responses: [] })
    expect(sim.log).toHaveLength(0)
  })

  test("in the middle of an answer", async () => {
    const stop = new AbortController()
    const onProgress = (characters: number) => characters > 0 && stop.abort()
    const { outcome, sim } = await summarise(work(2), { options: { signal: stop.signal, onProgress } })
    expect(outcome).toMatchObject({ kind: "failed", reason: "aborted" })
    expect(sim.log).toHaveLength(1)
  })

  test("between two parts", async () => {
    const stop = new AbortController()
    let falls = 0
    // progress is reported again, without growing, when the next part begins
    let last = -1
    const onProgress = (characters: number) => {
      if (characters === last && ++falls === 1) stop.abort()
      last = characters
    }
    const { outcome, requests } = await summarise(work(60), {
      window: 16_000,
      options: { signal: stop.signal, onProgress },
    })
    expect(outcome).toMatchObject({ kind: "failed", reason: "aborted", responses: [{}] })
    expect(requests).toHaveLength(1)
  })
})
