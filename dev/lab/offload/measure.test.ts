import { expect, test } from "vitest"
import { conversation } from "../../../packages/core/test/builders.ts"
import { isWhole } from "../../../packages/core/test/size.ts"
import { breakEven, chosen, measured, type OffloadRow, resultSizes, rowOf } from "./measure.ts"

const MODEL = "claude-opus-4-6"
const row = (limit: number, cost: number, inView: number): OffloadRow => ({
  ...{ limit, preview: 2_000, cost, inView, min: cost, max: cost },
  ...{ fetching: 0, fetched: 0, putAside: 0, readAgain: 0, names: 100 },
})

test("BEY-7 the size that is chosen is the cheapest that takes little out of view", () => {
  expect(
    chosen([row(8_000, 0.7, 0.96), row(16_000, 0.8, 0.985), row(24_000, 0.82, 0.99), row(50_000, 0.9, 0.994)]),
  ).toEqual(row(16_000, 0.8, 0.985))
  expect(chosen([row(8_000, 0.9, 0.99), row(50_000, 0.9, 0.99)])!.limit).toBe(50_000) // without a gain, the larger size is chosen
})

test("BEY-7 how many results a model may read again before a smaller size costs more", () => {
  const [small, large] = [row(8_000, 0.9, 1), row(16_000, 0.94, 1)]
  const rows = [{ ...small, putAside: 9, readAgain: 1, fetching: 0.1, fetched: 20 }, large]
  // eight results save 0.005 each. Reading one again loses that saving and costs another 0.005
  expect(breakEven(rows[0]!, rows)).toBeCloseTo(0.5)
  expect(breakEven(large, rows)).toBeUndefined()
  expect(breakEven({ ...rows[0]!, cost: 1.5 }, rows)).toBe(0)
})

test.runIf(isWhole)(
  "BEY-7 a smaller size puts more aside and costs less; what a name needs is read again",
  async () => {
    const usage = (input: number) => ({ input_tokens: input, output_tokens: 40 })
    const log = (name: string) => `${"a line\n".repeat(1_500)}${name}\n${"a line\n".repeat(1_500)}`
    const work = Array.from({ length: 12 }).reduce<ReturnType<typeof conversation>>(
      (built, _, i) =>
        built
          .call(i === 5 ? "Read" : "Bash", { i }, { usage: usage(20_000 + i * 7_000) })
          .result(log(`hiddenName_${i}`)),
      conversation().user("Run it."),
    )
    const { messages } = work.say("It was hiddenName_3.", { usage: usage(110_000) })
    expect(resultSizes(messages)).toHaveLength(11) // results that show files are not offloaded
    const sizes = [12_000, 24_000, 50_000].map((limit) => ({ limit, preview: 2_000 }))
    const one = await measured({ name: "one", format: "claude-code", messages, model: MODEL }, sizes)
    const [small, middle, large] = sizes.map((each) => rowOf(each, [one!]))
    expect(small).toMatchObject({ putAside: 11, readAgain: 1, names: 1, inView: 0 })
    expect(large).toMatchObject({ putAside: 0, readAgain: 0, names: 1, inView: 1 })
    expect(small!.cost).toBeLessThan(0.8 * large!.cost)
    expect(middle).toMatchObject({ ...large, limit: 24_000 }) // no result has a size between the two
  },
)
