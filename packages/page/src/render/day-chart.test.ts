import { expect, test } from "vitest"
import { dayLegend, groupIntoBars, namesByCost } from "./day-chart.ts"

const day = (name: string, paid: number, model: string) => ({ day: name, dollars: paid, parts: { [model]: paid } })

test("BEY-15 every day has a bar, also one without money", () => {
  const { unit, days } = groupIntoBars([day("2026-01-03", 2, "b"), day("2026-01-01", 1, "a"), day("unknown", 9, "c")])
  expect(unit).toBe("day")
  expect(days.map((each) => [each.day, each.dollars])).toEqual([
    ["2026-01-01", 1],
    ["2026-01-02", 0],
    ["2026-01-03", 2],
  ])
})

test.for([
  { last: "2026-04-30", unit: "day" },
  { last: "2026-05-01", unit: "week" },
  { last: "2029-01-01", unit: "four weeks" },
  { last: "2999-12-31", unit: "four weeks" },
] as const)("BEY-15 a chart up to $last has a bar for each $unit, and leaves out no money", ({ last, unit }) => {
  const found = groupIntoBars([day("2026-01-01", 30, "first"), day("2026-01-02", 1, "other"), day(last, 2, "other")])
  expect(found.unit).toBe(unit)
  expect(found.days.length).toBeLessThanOrEqual(120)
  expect(found.days.reduce((sum, { dollars }) => sum + dollars, 0)).toBe(33)
  expect(namesByCost(found.days)).toEqual(["first", "other"])
})

test("BEY-15 the legend leaves out dates of releases, unless two names differ by them only", () => {
  const words = (...names: readonly string[]) =>
    [
      ...dayLegend(names)
        .toString()
        .matchAll(/<\/svg> (.*?)<\/li>/g),
    ].map(([, name]) => name)
  expect(words("claude-opus-4-5-20251101", "gpt-5.5")).toEqual(["claude-opus-4-5", "gpt-5.5"])
  const alike = ["claude-haiku-3-20240307", "claude-haiku-3-20250101"]
  expect(words(...alike)).toEqual(alike)
})
