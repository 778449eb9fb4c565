import type { CompactionPlan } from "@strata/core"
import { describeCompaction } from "@strata/page"
import { expect, test } from "vitest"
import { describeStep, planLines } from "./compaction.ts"
import { widthOf } from "./text.ts"

const PLAN: CompactionPlan = {
  trigger: "manual",
  kind: "all",
  routes: ["shared", "direct"],
  summarised: { messages: 57, tokens: 142_000, first: "a", last: "b" },
  kept: { uuids: ["c"], tokens: 900 },
  fixed: 24_100,
  restored: ["carried facts", "file: packages/core/src/layers/4-compaction/facts/facts-properties.test.ts"],
  added: 5_000,
  summary: { tokens: 3_000, is: "expected", earlier: 2 },
  tokensBefore: 167_000,
  expectedAfter: 33_000,
  between: [32_100, 34_500],
  isWorthIt: true,
  dollars: 0.1234,
}

test("L4-24 a plan: what is summarised, kept and added, tokens, cost, the routes in order", () => {
  const lines = planLines(PLAN, 76)
  expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
    "
    summarise         57 messages, about 142,000 tokens
    keep as is        1 message, about 900 tokens
    prompt and tools  about 24,100 tokens, unchanged
    then add          a summary, about 3,000 tokens
                      facts and files, about 5,000 tokens:
                      facts from the journal
                      file:
                      packages/core/src/layers/4-compaction/facts/facts-properties.test.ts
    tokens            167,000 now, about 33,000 afterwards (32,100 to 34,500,
                      judging by 2 earlier summaries)
    cost              about $0.1234 for the summary
    routes, in order  by the model, from its cache; by the model
    "
  `)
  for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(95) // paths are not wrapped
})

test("L4-24 the figures of a plan add up on the screen, before and after", () => {
  const shortened = { ...PLAN, kept: { uuids: ["c"], tokens: 900, shortenedTo: 400 }, expectedAfter: 32_500 }
  for (const plan of [PLAN, shortened]) {
    const text = planLines(plan, 200).join("\n")
    const read = (pattern: RegExp) => Number(pattern.exec(text)?.[1]?.replaceAll(",", ""))
    const [summarised, kept] = [read(/^summarise .*about ([\d,]+)/m), read(/^keep as is .*message, about ([\d,]+)/m)]
    const [fixed, summary] = [read(/^prompt and tools +about ([\d,]+)/m), read(/a summary, about ([\d,]+)/)]
    const added = read(/facts and files, about ([\d,]+)/)
    const keptAfter = read(/then about ([\d,]+)/) || kept
    expect(summarised + kept + fixed).toBe(read(/^tokens +([\d,]+) now/m))
    expect(fixed + keptAfter + summary + added).toBe(read(/now, about ([\d,]+) afterwards/))
  }
})

test("L4-24 a plan says whether its size is known or judged, and by what", () => {
  const tokensOf = (plan: Partial<CompactionPlan>) =>
    planLines({ ...PLAN, ...plan }, 200).find((line) => line.startsWith("tokens"))
  const written = { summary: { tokens: 3_000, is: "written" }, between: [33_000, 33_000] } as const
  const judged = { summary: { tokens: 3_000, is: "expected", earlier: 0 } } as const
  expect(tokensOf(judged)).toMatch(/about 33,000 afterwards \(32,100 to 34,500, judging by usual summaries\)$/)
  expect(tokensOf({ summary: { ...judged.summary, earlier: 1 } })).toMatch(/judging by 1 earlier summary\)$/)
  const known = "167,000 now, 33,000 afterwards, known exactly: "
  expect(tokensOf({ ...written, routes: ["notes"] })).toContain(`${known}the notes are the summary`)
  expect(tokensOf({ ...written, routes: ["offline"] })).toContain(`${known}the summary is quoted`)
  expect(tokensOf(written)).toContain(`${known}the summary is written`)
})

test("the cost where no model is asked, and where no price is known", () => {
  const { dollars: _, ...unpriced } = PLAN
  expect(planLines(unpriced, 76)).toContainEqual("cost              unknown: no price for this model")
  expect(planLines({ ...unpriced, routes: ["notes", "shared"] }, 76)).toContainEqual(
    "cost              nothing: no model is asked",
  )
})

test("a compaction in a sentence, with its route if that is known", () => {
  const figures = { tokensBefore: 167_000, tokensAfter: 54_000 }
  expect(describeCompaction({ ...figures, route: "notes" })).toBe(
    "Compacted: 167,000 to 54,000 tokens, from the notes.",
  )
  expect(describeCompaction(figures)).toBe("Compacted: 167,000 to 54,000 tokens.")
  expect(describeCompaction({ tokensAfter: 54_000 })).toBe("Compacted to 54,000 tokens.")
  expect(describeCompaction({})).toBe("Compacted.")
})

test("BEY-4 a compaction that the planner chose says why", () => {
  const figures = { tokensBefore: 90_000, tokensAfter: 30_000, planned: "About 60,000 old tokens need not be sent." }
  expect(describeCompaction(figures)).toBe(
    "Compacted: 90,000 to 30,000 tokens. About 60,000 old tokens need not be sent.",
  )
})

test("L4-14 steps in plain words", () => {
  expect(describeStep({ phase: "summarising", route: "notes" })).toBe("building a summary from the notes")
  expect(describeStep({ phase: "summarising", route: "shared" })).toBe("asking the model for a summary")
  expect(describeStep({ phase: "hook", event: "PreCompact", hook: "check.sh" })).toBe("running the hook on PreCompact")
  expect(describeStep({ phase: "alive", seconds: 30 })).toBeUndefined()
})
