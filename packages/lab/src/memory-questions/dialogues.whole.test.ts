import { expect, test } from "vitest"
import { makeChat } from "./chats.ts"
import { makeDialogue } from "./dialogues.ts"
import { memorySearch, plainFts5, recallTool } from "./doors.ts"
import { readLocomo } from "./locomo.ts"
import { ANSWERABLE, measure, plain } from "./measure.ts"
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

test("BEY-5 a chat is the same for the same seed, and has every kind of question", () => {
  const options = { seed: 7, part: "held-out" } as const
  const chat = makeChat(options)
  expect(makeChat(options)).toEqual(chat)
  const kinds = new Set(chat.questions.map(({ kind }) => kind))
  expect([...kinds].toSorted()).toEqual(["answer", "changed", "direct", "rule", "several", "time", "who"])
  for (const { evidence } of chat.questions) for (const at of evidence) expect(chat.turns[at]).toBeDefined()
  const answers = chat.turns.filter(({ speaker, text }) => speaker === "assistant" && text.length > 1_000)
  expect(answers.length).toBeGreaterThan(50)
})

test.each([
  ["a dialogue of two people", () => makeDialogue(OPTIONS)],
  ["a chat with an assistant", () => makeChat({ seed: 7, part: "chosen" })],
])("BEY-5 in %s both doors find evidence more often than plain BM25 and FTS5, and show it whole", async (_, make) => {
  const dialogues = [make()]
  const [tool, memory] = [await measure(dialogues, recallTool), await measure(dialogues, memorySearch())]
  for (const baseline of [plain, plainFts5]) {
    const { turn5, turn10 } = await measure(dialogues, baseline, ANSWERABLE)
    for (const ours of [tool, memory]) {
      expect(ours.turn5).toBeGreaterThan(turn5 + 0.05)
      expect(ours.turn10).toBeGreaterThan(turn10 + 0.05)
    }
  }
  expect(tool.whole).toBeGreaterThan(0.8)
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
