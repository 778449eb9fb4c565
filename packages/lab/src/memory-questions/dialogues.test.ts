import { expect, test } from "vitest"
import { makeDialogue } from "./dialogues.ts"
import { readLocomo } from "./locomo.ts"
import { measure, ours, plain } from "./measure.ts"
import { measureSupersession } from "./supersession.ts"

const OPTIONS = { seed: 7, about: "project", part: "held-out", sessions: 12, turnsPerSession: 16 } as const

test("BEY-5 a dialogue is the same for the same seed, and its evidence is in it", () => {
  const dialogue = makeDialogue(OPTIONS)
  expect(makeDialogue(OPTIONS)).toEqual(dialogue)
  for (const { evidence, kind } of dialogue.questions) {
    expect(evidence.length > 0).toBe(["direct", "time", "two-hop"].includes(kind))
    for (const at of evidence) expect(dialogue.turns[at]).toBeDefined()
  }
})

test("BEY-5 search finds evidence more often than plain BM25", () => {
  const dialogues = [makeDialogue(OPTIONS)]
  expect(measure(dialogues, ours()).turn10).toBeGreaterThan(measure(dialogues, plain).turn10 + 0.1)
})

test("L5-11 a retired fact is never offered, nor listed above its successor", () => {
  expect(measureSupersession(100)).toMatchObject({ cases: 100, retiredOffered: 0, retiredAbove: 0 })
})

test("BEY-5 reads dialogues in the LoCoMo layout", () => {
  const sample = {
    conversation: {
      session_1_date_time: "1:56 pm on 8 May, 2023",
      session_1: [{ speaker: "Ann", dia_id: "D1:1", text: "I adopted a cat." }],
    },
    qa: [
      { question: "What did Ann adopt?", answer: "a cat", evidence: ["D1:1"], category: 4 },
      { question: "What did Bob adopt?", evidence: ["D1:1"], category: 5 },
    ],
  }
  const [dialogue] = readLocomo(JSON.stringify([sample]))
  expect(dialogue!.turns).toEqual([
    { session: 1, speaker: "Ann", text: "I adopted a cat.", time: "2023-05-08T13:56:00.000Z" },
  ])
  expect(dialogue!.questions.map(({ kind, evidence }) => [kind, evidence])).toEqual([
    ["direct", [0]],
    ["said-of-another", []],
  ])
})
