import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { CHAT_FILE, readBeam } from "./beam.ts"
import { makeChat } from "./chats.ts"
import { makeDialogue } from "./dialogues.ts"
import { readLocomo } from "./locomo.ts"
import { ANSWERABLE, measure, plain } from "./measure.ts"
import { makeProject } from "./projects.ts"
import { memorySearch, plainFts5, recallTool } from "./search-entries.ts"
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
  ["months of work with an assistant", () => makeProject({ seed: 7, part: "held-out" })],
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

test("BEY-5 reads one LoCoMo sample whose sessions are next to its questions", () => {
  const sample = {
    session_1_date_time: "1:56 pm on 8 May, 2023",
    session_1: [{ speaker: "Ann", dia_id: "D1:1", text: "I adopted a cat." }],
    qa: [{ question: "What did Ann adopt?", evidence: ["D1:1"], category: 4 }],
  }
  expect(readLocomo(JSON.stringify(sample))[0]!.questions).toEqual([
    { text: "What did Ann adopt?", kind: "direct", evidence: [0] },
  ])
})

test("BEY-5 reads chats in the BEAM layout", () => {
  const folder = mkdtempSync(join(tmpdir(), "beam-"))
  const message = (id: number, role: string, content: string) => ({ id, role, content, time_anchor: "March-15-2024" })
  const batch = { turns: [[message(0, "user", "I use SQLite. ->-> 1,1"), message(1, "assistant", "Good.")]] }
  const questions = {
    contradiction_resolution: [
      { question: "Which one?", source_chat_ids: { first_statement: [0], second_statement: [[1]] } },
    ],
    summarization: [{ question: "Sum up?", source_chat_ids: [] }],
    abstention: [{ question: "Who?" }],
  }
  mkdirSync(join(folder, "probing_questions"))
  writeFileSync(join(folder, CHAT_FILE), JSON.stringify([batch]))
  writeFileSync(join(folder, "probing_questions/probing_questions.json"), JSON.stringify(questions))
  const dialogue = readBeam(folder)
  rmSync(folder, { recursive: true })
  expect(dialogue.turns[0]).toEqual({
    ...{ session: 0, speaker: "user", time: "2024-03-15T00:00:00.000Z", text: "I use SQLite." },
  })
  expect(dialogue.questions).toEqual([
    { text: "Which one?", kind: "contradiction", evidence: [0, 1] },
    { text: "Who?", kind: "never-said", evidence: [] },
  ])
})

test("BEY-5 work over months is the same for the same seed, and has every kind of question", () => {
  const options = { seed: 7, part: "held-out" } as const
  const project = makeProject(options)
  expect(makeProject(options)).toEqual(project)
  const all = Array.from({ length: 4 }, (_, seed) => makeProject({ ...options, seed: seed + 1 }))
  const kinds = new Set(all.flatMap(({ questions }) => questions.map(({ kind }) => kind)))
  for (const kind of [
    "direct",
    "changed",
    "contradiction",
    "summary",
    "order",
    "preference",
    "rule",
    "answer",
  ] as const)
    expect(kinds).toContain(kind)
  for (const { questions, turns } of all)
    for (const { evidence } of questions) for (const at of evidence) expect(turns[at]).toBeDefined()
})
