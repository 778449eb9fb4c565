import { internalsOf } from "@strata/core/conversation"
import type { RangePlan } from "@strata/core/policy"
import { expect, test } from "vitest"
import { RangeRefusedError } from "../../../core/src/base/errors.ts"
import { openTestConversation } from "../../../core/test/open.ts"
import type { CommandTarget } from "./command-target.ts"
import { describeDone, fold, rangeLines, snip, unfold } from "./fold-commands.ts"

const PLAN: RangePlan = {
  action: "fold",
  ranges: [
    {
      from: "a",
      to: "b",
      handles: { from: "0011223344", to: "5566778899" },
      messages: 14,
      toolCalls: 6,
      tokens: 21_000,
      preview: "Fix the parser.",
      line: "[Folded: 14 messages.]",
    },
  ],
  tokensBefore: 81_200,
  tokensAfter: 60_250,
  rewrites: 40_000,
  dollars: 0.25,
}

const ANSWER = { role: "assistant", content: "Done." } as const

/** A chat with two finished exchanges, the first of them cut out. It records requests and output. */
async function chat({ answer = 0, refuse = false } = {}) {
  const asked: unknown[] = []
  const shown: string[] = []
  const act = (name: string) => async (request: object) => {
    asked.push({ name, ...(typeof request === "string" ? { handle: request } : request) })
    if (refuse) throw new RangeRefusedError("Nothing was changed.")
    return PLAN
  }
  const opened = await openTestConversation()
  for (const text of ["Fix the parser.", "Fix the printer.", "Go on."])
    await opened.add([{ role: "user", content: text }, ANSWER])
  const [first, second] = internalsOf(opened).exchanges()
  await opened.snip({ from: first!.from })
  const { decision } = internalsOf(opened).views.context.hiddenRanges[0]!
  const conversation = Object.assign(opened, {
    windowUsage: () => ({ used: 80_000 }),
    ...{ fold: act("fold"), snip: act("snip"), unfold: act("unfold") },
  })
  const target = {
    agent: { conversation },
    notice: (text: string) => shown.push(text),
    print: (title: string, lines: readonly string[]) => shown.push(title, ...lines),
    ask: async () => ({ type: "chosen", index: answer }),
  } as unknown as CommandTarget
  return { target, asked, shown, open: second!, hidden: decision.uuid }
}

test("BEY-13 /fold takes a size, a range, or nothing, and a dry run only shows", async () => {
  const { target, asked, shown } = await chat()
  for (const argument of ["60000", "60K", "", "0011223344", "0011223344 5566778899 --dry-run"])
    await fold(target, argument)
  expect(asked).toEqual([
    { name: "fold", downTo: 60_000, dryRun: false },
    { name: "fold", downTo: 60_000, dryRun: false },
    { name: "fold", downTo: 40_000, dryRun: false },
    { name: "fold", from: "0011223344", dryRun: false },
    { name: "fold", from: "0011223344", to: "5566778899", dryRun: true },
  ])
  expect(shown[0]).toBe(describeDone(PLAN))
  expect(shown.slice(4)).toEqual(["What it would do (nothing was changed)", ...rangeLines(PLAN)])
})

test("BEY-13 /snip and /unfold without an argument ask which range", async () => {
  const { target, asked, open, hidden } = await chat()
  await snip(target, "")
  await unfold(target, "")
  await unfold(target, "0011223344")
  expect(asked).toEqual([
    { name: "snip", from: open.from, to: open.to, dryRun: false },
    { name: "unfold", handle: hidden },
    { name: "unfold", handle: "0011223344" },
  ])
})

test("BEY-13 a refusal is one sentence for the person", async () => {
  const { target, shown } = await chat({ refuse: true })
  await snip(target, "0011223344")
  expect(shown).toEqual(["Nothing was changed."])
})

test("BEY-13 what was done says how to bring it back, and a dry run says what the cache costs", () => {
  expect(describeDone(PLAN)).toBe(
    "Folded 1 range (14 messages): 81.2K to 60.3K tokens. The journal keeps everything: /unfold 0011223344 brings it back.",
  )
  expect(rangeLines(PLAN)).toEqual([
    "0011223344 to 5566778899  14 messages, 21.0K tokens  Fix the parser.",
    "21,000 tokens go. The line in its place takes 50.",
    "Context: 81,200 tokens now, 60,250 after.",
    "The server writes 40,000 tokens to its cache again, about $0.2500.",
  ])
})
