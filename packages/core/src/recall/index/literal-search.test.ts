/** Questions of common words and a named time: the answers are those of a plain comparison with every text. */
import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { fuzz, RUNS } from "../../../test/runs.ts"
import { isWhole } from "../../../test/size.ts"
import type { Question } from "../answer/ranking.ts"
import type { Passage } from "../passages/passage.ts"
import { innerStopPrefixes, stopPrefixes } from "../passages/stop-prefixes.ts"
import { PassageIndex } from "./passage-index.ts"

const NOW = new Date("2026-03-10T12:00:00Z")
const START = Date.UTC(2026, 1, 1)
const DAY = 86_400_000
/** Common words, words of times, and words that start or end like them. */
const WORDS =
  "what somewhat did we do last week weekend blast year yearly yesterday Yesterdays 2025 20256 in indeed May mayor domain on 3 June it's x İn ß 日本 🚀 é !== walrus".split(
    " ",
  )
const GAPS = [" ", " ", " ", "  ", "\n", "?", ", ", "-", "_", "'", "", "\u0301"]

const text = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...GAPS)), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.flat().join(""))

/** A part of a text that does not split surrogate pairs. */
const partOf = (whole: string, from: number, length: number) => [...whole].slice(from, from + length).join("")
const part = fc.record({ from: fc.nat(12), length: fc.integer({ min: 1, max: 24 }) })

test("BEY-5 a text has every beginning that is needed for a part of it", () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: "binary" })), part, (whole, { from, length }) => {
      const has = stopPrefixes(whole)
      expect([...innerStopPrefixes(partOf(whole, from, length))].filter((beginning) => !has.has(beginning))).toEqual([])
    }),
    { ...fuzz, numRuns: 40 * RUNS },
  )
})

test("BEY-5 the beginnings tell texts apart: whole words in the middle, a first word by its last letters and a last one by its first", () => {
  expect([...innerStopPrefixes("what did we do last week?")]).toEqual("did,we,do,las,do_las,wee,ast_wee".split(","))
  expect([...innerStopPrefixes("and yesterday?")]).toEqual(["yes", "and_yes"])
  expect([...innerStopPrefixes("on yesterday")]).toEqual(["yes"])
  expect([...innerStopPrefixes("in 2025")]).toEqual(["202"])
  expect([...innerStopPrefixes("go on")]).toEqual([])
  expect([...innerStopPrefixes("yesterday")]).toEqual([])
})

interface Placed extends Passage {
  readonly source: string
}

const passages = fc
  .array(fc.record({ text, source: fc.constantFrom("a", "b") }), { minLength: 1, maxLength: 40 })
  .map((all): readonly Placed[] =>
    all.map(({ text: each, source }, at) => ({
      ...{ uuid: `u${at}`, blocks: "0", kind: at % 3 ? "user" : "result", isDialogue: at % 3 > 0, source },
      ...{ time: new Date(START + at * DAY).toISOString(), start: 0, length: each.length, text: each },
    })),
  )

const filter: fc.Arbitrary<Partial<Question>> = fc.oneof(
  fc.constant({}),
  fc.constant({ source: "b" }),
  fc.constant({ isDialogue: true }),
  fc.constant({ kind: "result" as const }),
  fc.constant({ since: new Date(START + 5 * DAY), until: new Date(START + 20 * DAY) }),
  fc.constant({ exclude: { sources: new Set(["a"]) } }),
)

function fits({ source, isDialogue, kind, time }: Placed, question: Partial<Question>): boolean {
  if (question.source !== undefined && source !== question.source) return false
  if (question.exclude?.sources?.has(source)) return false
  if ((question.isDialogue && !isDialogue) || (question.kind !== undefined && kind !== question.kind)) return false
  const at = Date.parse(time)
  return at >= (question.since?.getTime() ?? at) && at < (question.until?.getTime() ?? at + 1)
}

/** Questions without significant words, apart from the time that they name. */
const WORDLESS = ["what did we do", "did we", "we do it", "it's", "in", "do", "🚀", "!==", "?"]
const TIMES = ["last week", "yesterday", "in 2025", "in May 2025", "on 3 June", "this year"]
const asked = fc
  .tuple(fc.constantFrom("", ...WORDLESS), fc.constantFrom("", ...TIMES), fc.constantFrom("", "?", " it"))
  .map(([before, time, after]) => `${before} ${time}${after}`.trim())
  .filter((each) => each !== "")

test.runIf(isWhole)(
  "BEY-5 a question of common words finds what a comparison with every text finds, the newest first",
  () => {
    let hits = 0
    fc.assert(
      fc.property(passages, fc.array(fc.tuple(asked, filter), { minLength: 1, maxLength: 6 }), (all, questions) => {
        const planted = questions.map(([each], at) => ({ ...all[0]!, uuid: `p${at}`, text: `so${each}s, he said` }))
        using index = closing(new PassageIndex(":memory:"))
        // in the order of their ids
        const placed = ["a", "b"].flatMap((source) => [...all, ...planted].filter((one) => one.source === source))
        index.replace(Map.groupBy(placed, ({ source }) => source))
        for (const [words, which] of questions) {
          const question = { text: words, now: NOW, limit: 100, isDistinct: false, ...which }
          const expected = placed.filter((one) => one.text.includes(words) && fits(one, which)).reverse()
          hits += expected.length
          expect(index.search(question).found.map(({ uuid }) => uuid)).toEqual(expected.map(({ uuid }) => uuid))
        }
      }),
      { ...fuzz, numRuns: 4 * RUNS },
    )
    expect(hits).toBeGreaterThan(0)
  },
)

test("BEY-5 of many that have it, those that fit are found, also where they are the oldest", () => {
  const index = new PassageIndex(":memory:")
  onTestFinished(() => index.close())
  const passageAt = (at: number): Passage => ({
    ...{ uuid: `u${at}`, blocks: "0", kind: "user", isDialogue: at < 3, time: "2026-01-01T00:00:00Z" },
    ...{ start: 0, length: 9, text: "so did we" },
  })
  index.replace(new Map([["s", Array.from({ length: 2_000 }, (_, at) => passageAt(at))]]))
  for (const text of ["so did we", "we"]) {
    const { found } = index.search({ text, now: NOW, isDialogue: true, isDistinct: false })
    expect(found.map(({ uuid }) => uuid)).toEqual(["u2", "u1", "u0"])
  }
})

const closing = (index: PassageIndex): PassageIndex & Disposable =>
  Object.assign(index, { [Symbol.dispose]: () => index.close() })
