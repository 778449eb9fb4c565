import { describe, expect, test } from "vitest"
import { type DrawnConversation, drawFor, estimateSaving } from "./sample.ts"

interface Made {
  readonly money: number
  /** Of its cost. */
  readonly saving: number
}

/** The order of one draw, and the figure after so many replays. */
function drawn(all: readonly Made[], seed: string) {
  const order = all
    .map(({ money, saving }, at) => ({
      place: drawFor(`${seed} ${at}`) / money,
      money,
      replayed: { recorded: money * 1.05, strata: money * 1.05 * (1 - saving) },
    }))
    .toSorted((a, b) => a.place - b.place)
  return {
    order,
    after: (count: number) =>
      estimateSaving(
        order.map(({ replayed, ...one }, at): DrawnConversation => (at < count ? { ...one, replayed } : one)),
      ),
  }
}

const whole = (all: readonly Made[]) =>
  all.reduce((sum, { money, saving }) => sum + money * saving, 0) / all.reduce((sum, { money }) => sum + money, 0)

/** About a normal variable. */
const normal = (name: string) => [1, 2, 3, 4].reduce((sum, part) => sum + drawFor(`${name} ${part}`) - 1, 0) / 2

/** Money over three powers of ten, and expensive conversations save more: what a choice from the most expensive down would get wrong. */
const MACHINE: readonly Made[] = Array.from({ length: 110 }, (_, at) => {
  const money = Math.exp(1.3 * normal(`money ${at}`))
  return { money, saving: Math.min(0.65, 0.12 * Math.log10(1 + 10 * money) + 0.1 * (drawFor(`saving ${at}`) - 1)) }
})
const SEEDS = Array.from({ length: 200 }, (_, at) => `seed ${at}`)

describe("BEY-15 the saving over all conversations, from a sample that is drawn by money", () => {
  test("has no bias, and a later figure is outside an earlier interval in few of 100 draws", () => {
    let outside = 0
    let count = 0
    const firsts: number[] = []
    for (const seed of SEEDS) {
      const { after } = drawn(MACHINE, seed)
      const figures = [11, 33, 110].map(after)
      const [first] = figures
      if (first?.kind === "sampled") firsts.push(first.share)
      for (const [at, earlier] of figures.entries()) {
        if (earlier.kind !== "sampled") continue
        for (const later of figures.slice(at + 1)) {
          if (later.kind !== "sampled" && later.kind !== "exact") continue
          count++
          if (later.share < earlier.from || later.share > earlier.to) outside++
        }
      }
    }
    expect(firsts.length).toBeGreaterThan(150)
    expect(Math.abs(firsts.reduce((a, b) => a + b) / firsts.length - whole(MACHINE))).toBeLessThan(0.02)
    expect(outside / count).toBeLessThan(0.03)
  })

  test("is exact without an interval once all are replayed", () => {
    const figure = drawn(MACHINE, "any").after(MACHINE.length)
    expect(figure).toMatchObject({ kind: "exact", share: expect.closeTo(whole(MACHINE), 9) })
  })

  test("says nothing from a few replays, and nothing where there is nothing to replay", () => {
    const { after } = drawn(MACHINE, "any")
    for (const count of [0, 1, 2, 3]) expect(after(count)).toEqual({ kind: "unknown", sample: count })
    expect(estimateSaving([])).toEqual({ kind: "nothing" })
  })

  test.each([1, 2, 3])(
    "knows the saving of %i conversations once all of them are replayed, and not before",
    (count) => {
      const { after } = drawn(MACHINE.slice(0, count), "any")
      expect(after(count - 1)).toEqual({ kind: "unknown", sample: count - 1 })
      expect(after(count)).toMatchObject({ kind: "exact" })
    },
  )

  test("one conversation with most of the money comes early, and little uncertainty is left after it", () => {
    const small = MACHINE.map(({ saving }) => ({ money: 0.5, saving }))
    const all = [{ money: 1_000, saving: 0.6 }, ...small]
    for (const seed of SEEDS.slice(0, 20)) {
      const { order, after } = drawn(all, seed)
      expect(order.findIndex(({ money }) => money === 1_000)).toBeLessThan(3)
      const figure = after(12)
      expect(figure).toMatchObject({ kind: "sampled" })
      if (figure.kind === "sampled") expect(figure.to - figure.from).toBeLessThan(0.1)
    }
  })

  test("savings of 0 count, and a sample in which all save alike is still not certain", () => {
    const none = MACHINE.map(({ money }) => ({ money, saving: 0 }))
    const figure = drawn(none, "any").after(12)
    expect(figure).toMatchObject({ kind: "sampled", share: expect.closeTo(0, 9) })
    if (figure.kind === "sampled") expect(figure.to).toBeGreaterThan(0.02)
  })

  test("a short replay that ended before a longer one of the sample does not count yet", () => {
    const { order } = drawn(MACHINE, "any")
    const early = order.map(
      ({ replayed, ...one }, at): DrawnConversation => (at < 11 || at > 60 ? { ...one, replayed } : one),
    )
    expect(estimateSaving(early)).toEqual(drawn(MACHINE, "any").after(11))
  })

  test("the draw is the same every time", () => {
    expect(drawFor("9f5a3c7")).toBe(drawFor("9f5a3c7"))
    expect(drawFor("9f5a3c7")).not.toBe(drawFor("9f5a3c8"))
  })
})
