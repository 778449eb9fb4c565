import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { TextIndex } from "./text-index.ts"

const NOW = new Date("2026-03-10T12:00:00Z")

function indexOf(source: string, texts: readonly string[], time = "2026-01-01T00:00:00.000Z"): TextIndex {
  const index = new TextIndex(":memory:")
  onTestFinished(() => index.close())
  index.add(texts.map((text, position) => ({ source, position, text, time })))
  return index
}

const found = (index: TextIndex, text: string) => index.search({ text, now: NOW }).map(({ passage }) => passage.text)

test("BEY-5 finds a passage by other forms of its words", () => {
  const index = indexOf("a", ["we deploy on Fridays", "the cat sleeps", "lunch at noon"])
  expect(found(index, "when are deployments? deploying on a Friday?")[0]).toBe("we deploy on Fridays")
})

test("BEY-5 finds an answer by the words of the question before it", () => {
  const index = indexOf("a", [
    "nothing",
    "Which database does the billing service use?",
    "Postgres, for now.",
    "ok",
    "fine",
    "lunch",
  ])
  expect(found(index, "billing database").slice(0, 2)).toContain("Postgres, for now.")
})

test("BEY-5 finds the passage that fits best, however many older ones share a word with it", () => {
  const older = Array.from({ length: 2_000 }, (_, at) =>
    at % 8 ? `Lunch number ${at} was good.` : `Staging had visit ${at}.`,
  )
  const index = indexOf("a", [...older, "The port of staging is 7071."])
  expect(found(index, "Which port does staging use?")[0]).toBe("The port of staging is 7071.")
})

test("BEY-5 finds the parts of an answer in several conversations, each of which covers little of the question", () => {
  const filler = Array.from({ length: 40 }, (_, at) => `Marta had lunch number ${at}.`)
  const index = indexOf("a", ["Marta adopted a beagle.", ...filler])
  index.add(["Marta bought the blue car.", ...filler].map((text, position) => ({ source: "b", position, text })))
  const asked = "Which event came first, chronologically, for Marta: the adoption or the car?"
  expect(found(index, asked).slice(0, 2)).toEqual(["Marta adopted a beagle.", "Marta bought the blue car."])
  expect(found(index, asked.replace("adoption", "parrot").replace("car", "tent"))).toEqual([])
})

test("BEY-5 finds nothing where nothing fits", () => {
  const index = indexOf("a", ["we deploy on Fridays", "the cat sleeps", "lunch at noon"])
  expect(found(index, "Which rocket engine was tested?")).toEqual([])
})

test("BEY-5 prefers the time that the question names", () => {
  const index = indexOf("may", ["the release was late"], "2025-05-20T10:00:00.000Z")
  index.add([{ source: "june", position: 0, text: "the release was late", time: "2025-06-20T10:00:00.000Z" }])
  expect(index.search({ text: "the release in May 2025", now: NOW })[0]!.passage.source).toBe("may")
})

test("BEY-5 says which words matched", () => {
  const index = indexOf("a", ["we deploy on Fridays", "the cat sleeps"])
  expect(index.search({ text: "Friday deployment", now: NOW })[0]!.words).toEqual(["friday", "deployment"])
})

test("BEY-5 a removed source is not found, and a replaced passage only with its new text", () => {
  const index = indexOf("a", ["alpha"])
  index.add([{ source: "b", position: 0, text: "beta" }])
  index.remove("a")
  index.add([{ source: "b", position: 0, text: "gamma" }])
  expect([found(index, "alpha"), found(index, "beta"), found(index, "gamma")]).toEqual([[], [], ["gamma"]])
})

test("BEY-5 a step from an outdated mark is refused", () => {
  const index = indexOf("a", [])
  const step = { source: "c", passages: [{ text: "alpha" }], from: undefined, to: "1" }
  expect([index.extend(step), index.extend(step)]).toEqual([true, false])
  expect(found(index, "alpha")).toEqual(["alpha"])
})

test("BEY-5 any text can be indexed and asked for", () => {
  const index = indexOf("a", [])
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (text, context) => {
      index.add([text, context].map((body, position) => ({ source: "a", position, text: body })))
      index.search({ text, now: NOW, context: [context] })
    }),
    { numRuns: 100 },
  )
})
