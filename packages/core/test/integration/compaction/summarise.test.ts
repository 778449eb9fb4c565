/** The summariser against the simulator without errors: one call, or several for a conversation larger than the window. */
import { describe, expect, test } from "vitest"
import type { SummaryOutcome } from "../../../src/layers/4-compaction/summarise/direct.ts"
import { continuationText } from "../../../src/layers/4-compaction/summarise/prompts.ts"
import { USUAL_TITLES } from "../../../src/model/offline/fill.ts"
import { MODEL_FACTS } from "../../../src/tokens/models.ts"
import { conversation } from "../../builders.ts"
import { size } from "../../size.ts"
import { firstText, LINE, lastText, summarise, textOf, titlesIn, work } from "./summarising.ts"

describe("L4-13 a summary by one direct call", () => {
  test("L4-11 nine sections with text from the conversation, from a separate request", async () => {
    const { outcome, sent } = await summarise(work(12))
    expect(textOf(outcome)).toMatch(/^Summary:\n1\. Primary Request and Intent:\n/)
    expect(titlesIn(textOf(outcome))).toEqual([...USUAL_TITLES])
    expect(textOf(outcome)).toContain("Please move the parser to src/parser and keep every test green.")
    expect(textOf(outcome)).toContain("Good. Go on with file 10, never touch /repo/dist-9.")
    expect(textOf(outcome)).toContain("/repo/src/file-11.ts")
    expect(textOf(outcome)).not.toContain("<analysis>")
    expect(outcome).toMatchObject({ parts: 1, dropped: 0, responses: [{ stop_reason: "end_turn" }] })
    expect(sent).toMatchObject([
      { max_tokens: 20_000, thinking: { type: "disabled" }, tool_choice: { type: "none" }, tools: [{ name: "Read" }] },
    ])
    expect(String(sent[0]!.system).length).toBeLessThan(500)
  })

  /** One model for each set of features that a request may use. */
  const kinds = new Map(MODEL_FACTS.map(({ id, accepts }) => [JSON.stringify(accepts), id]))
  test.each([...kinds.values()])("is a request that %s accepts, and writes nothing to its cache", async (name) => {
    const { outcome, sim } = await summarise(work(3), { model: { model: name } })
    expect(outcome.kind).toBe("summary")
    expect(sim.log).toMatchObject([{ status: 200, stream: true, input: { read: 0, written: 0 } }])
  })

  test("L4-16 up to a message: completed work that later messages build on", async () => {
    const { outcome } = await summarise(work(3), { options: { kind: "up-to" } })
    expect(titlesIn(textOf(outcome)).slice(7)).toEqual(["Work Completed", "Context for Continuing Work"])
  })

  test("L4-16 from a message, with a range that begins with an answer", async () => {
    const { outcome, requests } = await summarise(work(3).slice(1), { options: { kind: "from" } })
    expect(titlesIn(textOf(outcome))).toEqual([...USUAL_TITLES])
    expect(firstText(requests[0]!)).toBe("[earlier conversation not shown here]")
    expect(lastText(requests[0]!)).toMatch(/earlier messages stay/)
  })

  test("L4-26 instructions reach the prompt, the user's first, whatever they contain", async () => {
    const { requests } = await summarise(work(1), {
      options: { instructions: ["Keep $& and `code`.", "From a hook."] },
    })
    expect(lastText(requests[0]!)).toMatch(/Keep \$& and `code`\.\n\nFrom a hook\.[\s\S]*text only, no tool calls/)
  })

  test("L4-10 a summary of a summary keeps the content of the earlier one", async () => {
    const first = await summarise(work(12))
    const summary = continuationText({
      summary: textOf(first.outcome),
      transcriptPath: "/t/1.jsonl",
      mode: "automatic",
      keptMessages: false,
    })
    const next = conversation().boundary().user(summary, { isCompactSummary: true })
    next
      .call("Edit", { file_path: "/repo/src/late.ts", old_string: "a", new_string: "b" })
      .result("done")
      .user("Thanks.")
    const second = await summarise(next.messages)
    for (const words of [
      "keep every test green",
      "never touch /repo/dist-9",
      "/repo/src/file-3.ts",
      "late.ts",
      "Thanks.",
    ]) {
      expect(textOf(second.outcome)).toContain(words)
    }
    expect(textOf(second.outcome)).not.toContain("This conversation continues")
  })

  test("L4-14 progress counts what has arrived", async () => {
    const seen: number[] = []
    const { outcome } = await summarise(work(5), { options: { onProgress: (characters) => seen.push(characters) } })
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(seen.at(-1)).toBeGreaterThan(textOf(outcome).length)
  })
})

describe("L4-25 a conversation larger than the window", () => {
  test.each(size([8_000, 32_000], [8_000, 32_000, 200_000, 1_000_000]))(
    "window of %i tokens: parts, then one summary of them",
    async (window) => {
      const rounds = Math.max(30, Math.ceil((window * 1.6) / 1_900)) // about 1,500 tokens each, estimated at 1,900
      const { outcome, requests, sim } = await summarise(work(rounds, 90), { window })
      const { parts } = outcome as Extract<SummaryOutcome, { kind: "summary" }>
      expect(outcome.kind).toBe("summary")
      expect(titlesIn(textOf(outcome))).toEqual([...USUAL_TITLES])
      expect(parts).toBeGreaterThan(1)
      expect(outcome.responses.length).toBe(requests.length)
      expect(sim.log.every(({ status }) => status === 200)).toBe(true)
      expect(outcome).toMatchObject({ dropped: 0 })
      expect(textOf(outcome)).toContain("Please move the parser to src/parser and keep every test green.")
    },
  )

  test("a part begins with a line that says which one it is, and the merge sees all parts in order", async () => {
    const { outcome, requests } = await summarise(work(60), { window: 16_000 })
    const { parts } = outcome as Extract<SummaryOutcome, { kind: "summary" }>
    expect(parts).toBeGreaterThan(2)
    expect(firstText(requests[1]!)).toBe(`[conversation, part 2 of ${parts}]`)
    expect(lastText(requests[1]!)).toContain(`part 2 of ${parts}`)
    const merges = requests.slice(parts)
    expect(merges.length).toBeGreaterThan(0)
    expect(firstText(merges[0]!)).toMatch(/^Summary of part 1 of/)
    for (let i = 9; i < 60; i += 10) expect(textOf(outcome)).toContain(`never touch /repo/dist-${i}.`)
  })

  test("a single round larger than the window", async () => {
    const builder = conversation().user("Read them all.")
    for (let i = 0; i < 40; i++) builder.call("Read", { file_path: `/repo/f${i}.ts` }, { id: "msg_all" })
    for (let i = 0; i < 40; i++) builder.result(LINE.repeat(400))
    const { outcome, sim } = await summarise(builder.messages, { window: 12_000 })
    expect(textOf(outcome)).toContain("Read them all.")
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  })
})
