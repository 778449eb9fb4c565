import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { isWhole, size } from "../../../test/size.ts"
import { PassageIndex } from "../index/passage-index.ts"
import type { Passage } from "../passages/passage.ts"

const NOW = new Date("2026-03-10T12:00:00Z")

const said = (text: string, at: number, more: Partial<Passage> = {}): Passage => ({
  ...{ uuid: `u${at}`, blocks: "0", kind: "user", isSaid: true, time: "2026-01-01T00:00:00.000Z" },
  ...{ start: 0, length: text.length, text, ...more },
})

function indexOf(source: string, texts: readonly string[], more: Partial<Passage> = {}): PassageIndex {
  const index = new PassageIndex(":memory:")
  onTestFinished(() => index.close())
  return adding(index, source, texts, more)
}

function adding(index: PassageIndex, source: string, texts: readonly string[], more: Partial<Passage> = {}) {
  index.replace(new Map([[source, texts.map((text, at) => said(text, at, more))]]))
  return index
}

const found = (index: PassageIndex, text: string) => index.search({ text, now: NOW }).found.map((one) => one.text)
const isFitting = (index: PassageIndex, text: string) => index.search({ text, now: NOW }).isFitting

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
  adding(index, "b", ["Marta bought the blue car.", ...filler])
  const asked = "Which event came first, chronologically, for Marta: the adoption or the car?"
  expect(found(index, asked).slice(0, 2).toSorted()).toEqual(["Marta adopted a beagle.", "Marta bought the blue car."])
  expect(isFitting(index, asked)).toBe(true)
  expect(isFitting(index, asked.replace("adoption", "parrot").replace("car", "tent"))).toBe(false)
})

test("BEY-5 finds nothing where nothing fits", () => {
  const index = indexOf("a", ["we deploy on Fridays", "the cat sleeps", "lunch at noon"])
  expect(found(index, "Which rocket engine was tested?")).toEqual([])
})

test("BEY-5 prefers the time that the question names", () => {
  const index = indexOf("may", ["the release was late"], { time: "2025-05-20T10:00:00.000Z" })
  adding(index, "june", ["the release was late"], { time: "2025-06-20T10:00:00.000Z" })
  expect(index.search({ text: "the release in May 2025", now: NOW }).found[0]!.source).toBe("may")
})

test("BEY-5 says which words matched", () => {
  const index = indexOf("a", ["we deploy on Fridays", "the cat sleeps"])
  expect(index.search({ text: "Friday deployment", now: NOW }).found[0]!.words.toSorted()).toEqual([
    "deployment",
    "friday",
  ])
})

test("BEY-5 a removed source is not found, and a replaced passage only with its new text", () => {
  const index = indexOf("a", ["alpha"])
  adding(index, "b", ["beta"])
  index.remove("a")
  adding(index, "b", ["gamma"])
  expect([found(index, "alpha"), found(index, "beta"), found(index, "gamma")]).toEqual([[], [], ["gamma"]])
})

test("BEY-5 a step from an outdated mark is refused", () => {
  const index = indexOf("a", [])
  const step = { source: "c", passages: [said("alpha", 0)], from: undefined, to: "1" }
  expect([index.extend(step), index.extend(step)]).toEqual([true, false])
  expect(found(index, "alpha")).toEqual(["alpha"])
})

test.runIf(isWhole)("BEY-5 any text can be indexed and asked for", () => {
  const index = indexOf("a", [])
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (text, context) => {
      adding(index, "a", [text, context])
      index.search({ text, now: NOW, context: [context] })
    }),
    { numRuns: size(15, 100) },
  )
})

const LONG_ANSWER = Array.from(
  { length: 30 },
  (_, at) => `Step ${at}: the staging port can be set in the config, restart staging, check the port.`,
).join("\n")

test("BEY-5 what the person said is above long answers and tool results that repeat its words", () => {
  const index = new PassageIndex(":memory:")
  onTestFinished(() => index.close())
  const other = (text: string, at: number, more: Partial<Passage>) => said(text, at, { length: 3_000, ...more })
  const log = "listening: staging port, staging port, staging port"
  index.replace(
    new Map([
      ["a", [other(LONG_ANSWER.slice(0, 1_200), 0, { kind: "assistant" })]],
      ["b", [other(log, 0, { kind: "result", isSaid: false, label: "Bash" })]],
      ["c", [said("By the way, our staging port moved to 7071 last night.", 0)]],
    ]),
  )
  expect(found(index, "Which port does staging use?")[0]).toContain("7071")
  expect(found(index, "Which port does staging use?")).toHaveLength(3)
})

test("BEY-5 a name counts the same wherever it is", () => {
  const index = indexOf("a", ["We talked about errors and about many other things.", "Errors again?"])
  adding(index, "b", ["exit: ERR_4711 in parseAddress"], { kind: "result", isSaid: false })
  expect(found(index, "Where did we see errors such as ERR_4711?")[0]).toContain("ERR_4711")
})

test("BEY-5 a term that is repeated counts more, and a long text less", () => {
  const filler = "with many other words about lunch, rain, trains, shoes, music and so on"
  const index = indexOf("a", [`A walrus once, ${filler}.`])
  adding(index, "b", [
    "The walrus and its walrus friends: a walrus story of lunch, rain, trains, shoes, music and so on.",
  ])
  expect(found(index, "walrus")[0]).toContain("walrus friends")
  adding(index, "c", ["A walrus."])
  adding(index, "d", [`A walrus. ${filler} `.repeat(1) + filler.repeat(8)])
  expect(found(index, "walrus").at(-1)).toContain(filler.repeat(8))
})

test("BEY-5 of two equal turns, the one in a session about the subject comes first, and none for its age", () => {
  const talk = (subject: string) => [
    `Let us plan the ${subject}.`,
    "ok",
    "And then?",
    "It was booked for Friday.",
    "Fine.",
  ]
  const index = indexOf("new", talk("printer"), { time: "2026-03-09T00:00:00.000Z" })
  adding(index, "old", [...talk("wedding"), `The wedding again.`], { time: "2024-01-01T00:00:00.000Z" })
  const asked = index.search({ text: "When was the wedding booked?", now: NOW })
  const booked = asked.found.filter(({ text }) => text.includes("booked"))
  expect(booked[0]!.source).toBe("old")
})

test("BEY-5 a search answers with what shares a word, and says that it does not fit", () => {
  const index = indexOf("a", ["we deploy on Fridays", "the cat sleeps", "lunch at noon"])
  const asked = "Which rocket engine, fuel tank, nozzle, valve, pump and turbine were tested on the cat?"
  const answer = index.search({ text: asked, now: NOW })
  expect(answer.found.map(({ text }) => text)).toEqual(["the cat sleeps"])
  expect(answer.isFitting).toBe(false)
})

test("BEY-5 a question can ask for what covers it, and for the best of each conversation", () => {
  const index = indexOf("a", ["The staging port is 7071.", "The staging port was 7070 before.", "Lunch at noon."])
  adding(index, "b", ["The staging server is grey.", "Lunch at one."])
  const text = "Which port has staging?"
  const asked = { text, now: NOW, isOnePerSource: true }
  expect(index.search(asked).found.map(({ source }) => source)).toEqual(["a", "b"])
  const covering = index.search({ ...asked, leastCoverage: 0.9 }).found
  expect(covering.map(({ source, coverage }) => [source, coverage])).toEqual([["a", 1]])
})

test("BEY-5 of many candidates, the best are kept whatever their order is", () => {
  const counts = Array.from({ length: 1_500 }, (_, at) => (at * 7_919) % 1_500)
  const texts = counts.map(
    (count) => `${count % 3 === 0 ? "relay " : ""}relay${" word".repeat(count % 40)} end${count}`,
  )
  const index = new PassageIndex(":memory:")
  onTestFinished(() => index.close())
  index.replace(new Map(texts.map((text, at) => [`s${at}`, [said(text, at)]])))
  const best = index.search({ text: "relay", now: NOW, limit: 10 }).found
  expect(best).toHaveLength(10)
  expect(best.every(({ text }) => text.startsWith("relay relay end"))).toBe(true)
})

test("BEY-5 a question for what someone told of themselves is answered where they told it, and not where they asked about it", () => {
  const asked = [
    "Please explain how other people handle buying the car.",
    "What should I know about buying the car?",
    "Write a small script that keeps notes on the car.",
    "Can you help me write a text about buying a car?",
  ]
  const told = "Could you compare a few ways to name a branch? We bought a car: a tiny Fiat. It was after the storm."
  const index = indexOf("a", [...asked, "ok"])
  adding(index, "b", ["lunch", told])
  expect(found(index, "Which car did I buy?")[0]).toBe(told)
  expect(found(index, "Which car did they buy?")[0]).not.toBe(told)
})

test("BEY-5 what was told is found in other languages, and a rule is told too", () => {
  const told = [
    "Mein Hund heißt Bello. Schreib mir bitte ein Gedicht über den Herbst.",
    "Never mock the database in tests.",
  ]
  const asked = [
    "Was kostet ein Hund? Hund?",
    "Fix the tests.",
    "Run the tests.",
    "Explain tests and the database tests.",
  ]
  const index = indexOf("a", asked)
  adding(index, "b", told)
  expect(found(index, "Wie heißt mein Hund?")[0]).toBe(told[0])
  expect(found(index, "What did I tell you about tests?")[0]).toBe(told[1])
})
