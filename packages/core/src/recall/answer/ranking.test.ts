import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { isWhole, size } from "../../../test/size.ts"
import { PassageIndex } from "../index/passage-index.ts"
import type { Passage } from "../passages/passage.ts"

const NOW = new Date("2026-03-10T12:00:00Z")

const dialogue = (text: string, at: number, more: Partial<Passage> = {}): Passage => ({
  ...{ uuid: `u${at}`, blocks: "0", kind: "user", isDialogue: true, time: "2026-01-01T00:00:00.000Z" },
  ...{ start: 0, length: text.length, text, ...more },
})

function indexOf(source: string, texts: readonly string[], more: Partial<Passage> = {}): PassageIndex {
  const index = new PassageIndex(":memory:")
  onTestFinished(() => index.close())
  return adding(index, source, texts, more)
}

function adding(index: PassageIndex, source: string, texts: readonly string[], more: Partial<Passage> = {}) {
  index.replace(new Map([[source, texts.map((text, at) => dialogue(text, at, more))]]))
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
  const step = { source: "c", passages: [dialogue("alpha", 0)], from: undefined, to: "1" }
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

test("BEY-5 what the user wrote is above long answers and tool results that repeat its words", () => {
  const index = new PassageIndex(":memory:")
  onTestFinished(() => index.close())
  const other = (text: string, at: number, more: Partial<Passage>) => dialogue(text, at, { length: 3_000, ...more })
  const log = "listening: staging port, staging port, staging port"
  index.replace(
    new Map([
      ["a", [other(LONG_ANSWER.slice(0, 1_200), 0, { kind: "assistant" })]],
      ["b", [other(log, 0, { kind: "result", isDialogue: false, label: "Bash" })]],
      ["c", [dialogue("By the way, our staging port moved to 7071 last night.", 0)]],
    ]),
  )
  expect(found(index, "Which port does staging use?")[0]).toContain("7071")
  expect(found(index, "Which port does staging use?")).toHaveLength(3)
})

test("BEY-5 a name counts the same wherever it is", () => {
  const index = indexOf("a", ["We talked about errors and about many other things.", "Errors again?"])
  adding(index, "b", ["exit: ERR_4711 in parseAddress"], { kind: "result", isDialogue: false })
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
  const covering = index.search({ ...asked, minCoverage: 0.9 }).found
  expect(covering.map(({ source, coverage }) => [source, coverage])).toEqual([["a", 1]])
})

test("BEY-5 of many candidates, the best are kept whatever their order is", () => {
  const counts = Array.from({ length: 1_500 }, (_, at) => (at * 7_919) % 1_500)
  const texts = counts.map(
    (count) => `${count % 3 === 0 ? "relay " : ""}relay${" word".repeat(count % 40)} end${count}`,
  )
  const index = new PassageIndex(":memory:")
  onTestFinished(() => index.close())
  index.replace(new Map(texts.map((text, at) => [`s${at}`, [dialogue(text, at)]])))
  const best = index.search({ text: "relay", now: NOW, limit: 10 }).found
  expect(best).toHaveLength(10)
  expect(best.every(({ text }) => text.startsWith("relay relay end"))).toBe(true)
})

test("BEY-5 finds words that are written or derived otherwise", () => {
  const index = indexOf("a", ["She mentored two juniors.", "My check-up went fine.", "the cat sleeps", "lunch at noon"])
  expect(found(index, "the mentorship")[0]).toBe("She mentored two juniors.")
  expect(found(index, "any checkups?")[0]).toBe("My check-up went fine.")
})

test("BEY-5 words about the talk itself only help to choose, apart from a question that has no others", () => {
  const about = "The heron moved to the harbour."
  const index = indexOf("a", ["Everything is clear now, thanks for the list!", about, "ok", "the order of our talks"])
  expect(found(index, "Can you give me a clear list of what we discussed about herons, in order?")[0]).toBe(about)
  expect(found(index, "the order of our conversations")[0]).toBe("the order of our talks")
  expect(found(index, "list order")).toHaveLength(2)
})

test("BEY-5 a summary is made of long answers too", () => {
  const asked = Array.from({ length: 6 }, (_, at) => `Is the heron there today, number ${at}?`)
  const index = indexOf("a", asked)
  const answer = `The heron nests here. ${"It eats fish, frogs and many other things. ".repeat(60)}The heron leaves in autumn, and the heron returns.`
  index.extend({
    ...{ source: "b", from: undefined, to: "1" },
    passages: [dialogue(answer, 99, { kind: "assistant" })],
  })
  const place = (text: string) => found(index, text).indexOf(answer)
  expect(place("Can you summarise the nests of the heron?")).toBe(0)
})

test.each([
  ["When did the heron come?", "The heron came last Monday.", "The heron came, at long last and with joy."],
  ["How many eggs has the heron?", "The heron has three eggs.", "The heron has eggs, they say."],
  ["Where does the heron live?", "The heron lives in Genoa.", "The heron lives in a nest."],
  ["Who saw the heron?", "Only Bertha saw the heron, Carl says.", "Only the cat saw the heron, they say."],
])("BEY-5 of texts that fit as well, the one that has what is asked for comes first: %s", (question, answer, other) => {
  for (const texts of [
    [answer, other],
    [other, answer],
  ])
    expect(found(indexOf("a", ["ok", ...texts, "lunch"]), question)[0]).toBe(answer)
})

test("BEY-5 what a user wrote comes before messages to them", () => {
  const texts = ["Ann: Bob, do you play the cello at home?", "Bob: The cello is what I play at home, yes."]
  for (const all of [texts, texts.toReversed()])
    expect(found(indexOf("a", ["ok", ...all, "lunch"]), "What does Bob play at home?")[0]).toBe(texts[1])
})

test("BEY-5 every message of a named day may answer, also on the day after", () => {
  const index = indexOf("a", ["The pond froze.", "I like lunch."], { time: "2026-02-01T10:00:00.000Z" })
  adding(index, "b", ["Yesterday I went bowling with everyone from work.", "ok"], { time: "2026-02-18T10:00:00.000Z" })
  expect(found(index, "Which sport did I do on February 17?")[0]).toContain("bowling")
  expect(found(index, "Which sport did I do?")).toEqual([])
})
