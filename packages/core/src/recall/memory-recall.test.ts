import { expect, onTestFinished, test } from "vitest"
import type { PassageMatch } from "./answer/choose.ts"
import { MemoryRecall, type MemoryRecallOptions, type RecallableMemory, type RecallQuestion } from "./memory-recall.ts"

const NOW = new Date("2026-03-10T12:00:00Z")

function memory(file: string, body: string, more: Partial<RecallableMemory> = {}): RecallableMemory {
  const time = "2026-03-01T12:00:00.000Z"
  return {
    file,
    name: file.replace(/\.md$/, ""),
    description: "",
    type: "project",
    created: time,
    confirmed: time,
    body,
    ...more,
  }
}

const passage = (conversation: string, message: string, coverage = 1): PassageMatch => ({
  ...{
    source: conversation,
    uuid: message,
    coverage,
    kind: "user",
    isDialogue: true,
    time: "2026-02-10T12:00:00.000Z",
  },
  ...{ blocks: "0", start: 0, length: 10, at: 0, text: `text of ${message}`, score: 1, words: ["staging", "port"] },
})

const BANK = [
  memory("staging.md", "The staging server is on port 7071."),
  memory("release.md", "Releases are tagged on Fridays.", { source: { message: "m9" } }),
  ...Array.from({ length: 8 }, (_, at) => memory(`retry-${at}.md`, `Retry ${at} of the upload queue.`)),
]

function recallIn({ memories = BANK, passages = [] as readonly PassageMatch[] }) {
  const options: MemoryRecallOptions<RecallableMemory> = {
    bank: { all: async () => memories },
    journals: {
      search: async ({ exclude }) => ({
        found: passages.filter(({ uuid }) => !exclude?.messages?.has(uuid)),
        isFitting: passages.length > 0,
      }),
    },
  }
  const recall = new MemoryRecall(options)
  onTestFinished(() => recall.close())
  return async (text: string, more: Partial<RecallQuestion> = {}) =>
    (await recall.recall({ text, now: NOW, ...more })).map((choice) =>
      choice.kind === "memory" ? choice.memory.file : choice.passage.uuid,
    )
}

test("L5-7 chooses a memory, and says its age and which words matched", async () => {
  const recall = new MemoryRecall({ bank: { all: async () => BANK } })
  onTestFinished(() => recall.close())
  expect(await recall.recall({ text: "Which port is staging on?", now: NOW })).toEqual([
    { kind: "memory", memory: BANK[0], words: ["port", "staging"], ageDays: 9 },
  ])
})

test("L5-7 chooses nothing where nothing fits", async () => {
  expect(await recallIn({})("What shall we eat tonight?")).toEqual([])
})

test("L5-7 chooses at most five, and none that was attached before", async () => {
  const recall = recallIn({})
  const first = await recall("retry the upload queue")
  expect(first).toHaveLength(5)
  const second = await recall("retry the upload queue", { exclude: { memories: new Set(first) } })
  expect(second).toHaveLength(3)
  expect(second.filter((file) => first.includes(file))).toEqual([])
})

test("BEY-5 passages of past conversations fill the free places, one for each conversation", async () => {
  const recall = recallIn({
    passages: [passage("a", "m1"), passage("a", "m2"), passage("b", "m3"), passage("c", "m4")],
  })
  expect(await recall("the port of staging")).toEqual(["staging.md", "m1", "m3"])
  expect(await recall("the port of staging", { exclude: { messages: new Set(["m1"]) } })).toEqual([
    "staging.md",
    "m2",
    "m3",
  ])
  expect(await recall("retry the upload queue", { limit: 1 })).toHaveLength(1)
})

test("BEY-5 one passage has its place however many memories fit, unless there is only one place", async () => {
  const recall = recallIn({ passages: [passage("c1", "m1"), passage("c2", "m2")] })
  const chosen = await recall("How often does the upload queue retry?")
  expect(chosen).toHaveLength(5)
  expect(chosen.filter((file) => file.startsWith("retry-"))).toHaveLength(4)
  expect(chosen.at(-1)).toBe("m1")
  expect(await recall("How often does the upload queue retry?", { limit: 1 })).toEqual([
    expect.stringMatching(/^retry-/),
  ])
})

test("BEY-5 a passage that fits poorly is not chosen", async () => {
  expect(await recallIn({ passages: [passage("a", "m1", 0.4)] })("the port of staging")).toEqual(["staging.md"])
})

test("L5-11 a replaced fact does not return through the conversation that it came from", async () => {
  const memories = [
    memory("old.md", "Staging is on port 80.", { source: { message: "m1" }, supersededBy: "new.md" }),
    memory("new.md", "Staging is on port 81."),
  ]
  const passages = [passage("a", "m1"), passage("b", "m2")]
  expect(await recallIn({ memories, passages })("the port of staging")).toEqual(["new.md", "m2"])
})

test("BEY-5 what comes from an excluded conversation or message is no memory to recall", async () => {
  const memories = [
    memory("mine.md", "Staging is on port 80.", { source: { conversation: "here", message: "m1" } }),
    memory("other.md", "Staging is on port 81.", { source: { conversation: "there", message: "m2" } }),
  ]
  const recall = recallIn({ memories })
  expect(await recall("the port of staging", { exclude: { conversations: new Set(["here"]) } })).toEqual(["other.md"])
  expect(await recall("the port of staging", { exclude: { messages: new Set(["m2"]) } })).toEqual(["mine.md"])
})

test("L5-7 a memory that a later one may say otherwise about comes with that one, as long as it is current", async () => {
  const old = memory("old.md", "We ship parts for Basalt to Porto.", { confirmed: "2026-01-02", doubtedBy: "new.md" })
  const later = memory("new.md", "Parts go to Gdansk.", { confirmed: "2026-02-02" })
  const doubts = async (memories: readonly RecallableMemory[]) => {
    const recall = new MemoryRecall({ bank: { all: async () => memories } })
    onTestFinished(() => recall.close())
    const found = await recall.recall({ text: "Where do we ship parts for Basalt?", now: NOW })
    return found.flatMap((one) => (one.kind === "memory" && one.memory.file === "old.md" ? [one.doubtedBy?.file] : []))
  }
  expect(await doubts([old, later])).toEqual(["new.md"])
  expect(await doubts([old])).toEqual([undefined])
  expect(await doubts([old, { ...later, supersededBy: "newest.md" }])).toEqual([undefined])
})
