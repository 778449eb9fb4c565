import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openAgent } from "../../agent/open-agent.ts"
import { openConversation } from "../../conversation/open.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import type { Store } from "../../journal/store.ts"
import { recallTool } from "../../tools/session/recall.ts"
import { EmbeddedPassages, type EmbedFunction, fuseByRank } from "./embedded-passages.ts"

const MODEL = "claude-opus-5-5"

/** An ideal model of a small world: words of one row have the same meaning. */
const MEANINGS = ["parrot animal pet bird", "cello instrument music", "Lisbon city town", "nurse job work"].map((row) =>
  row.split(" "),
)
const meaning = (text: string) =>
  MEANINGS.map((words) => words.filter((word) => text.includes(word)).length + 0.001 * text.length)

function ideal() {
  const texts: string[] = []
  const embed: EmbedFunction = async (asked) => {
    texts.push(...asked)
    return asked.map(meaning)
  }
  return { embed, texts }
}

const STATEMENTS = [
  "Kiwi the parrot moved in.",
  "My cello is out of tune.",
  "We landed in Lisbon.",
  "I am a nurse now.",
]
const QUESTIONS = ["Which animal is mine?", "Which instrument is mine?", "Which city was it?", "Which job is mine?"]
const IDLE = Array.from({ length: 30 }, (_, at) => `Which one was mine, number ${at}? It was late.`)

interface OpenResult {
  readonly embed?: EmbedFunction
  readonly store?: Store
  readonly dir?: string
  readonly owner?: string
  readonly say?: readonly string[]
}

async function opened({ embed, store, dir, owner, say = [...STATEMENTS, ...IDLE] }: OpenResult) {
  const recall = recallTool()
  const chat = await openConversation({
    ...{ model: MODEL, tools: [recall], env: {}, cwd: tmpdir(), project: "p" },
    ...(owner === undefined ? { settings: { memory: "off" } } : { memory: { owner } }),
    ...(dir === undefined ? { store: store ?? memoryStore() } : { dir }),
    ...(embed ? { embed } : {}),
  })
  onTestFinished(() => chat.close())
  for (const text of say) await chat.add(text)
  const search = async (words: string, where: "conversation" | "project" = "conversation") =>
    String((await recall.execute({ search: words, in: where })).content)
  return { chat, search }
}

test("BEY-5 an ideal embedding function finds what shares no word with the question", async () => {
  const hits = async (embed?: EmbedFunction) => {
    const { search } = await opened(embed ? { embed } : {})
    let found = 0
    for (const [at, question] of QUESTIONS.entries())
      found += Number((await search(question)).split("```").slice(0, 11).join("").includes(STATEMENTS[at]!))
    return found
  }
  expect(await hits()).toBe(0)
  expect(await hits(ideal().embed)).toBe(4)
})

test("BEY-5 each text is embedded once, also for the next conversation and the next process", async () => {
  const dir = mkdtempSync(join(tmpdir(), "embed-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const first = ideal()
  const one = await opened({ embed: first.embed, dir, owner: "ann" })
  await one.search(QUESTIONS[0]!)
  await one.search(QUESTIONS[1]!)
  for (const text of STATEMENTS) expect(first.texts.filter((each) => each === text)).toHaveLength(1)
  await one.chat.close()
  const second = ideal()
  const next = await opened({ embed: second.embed, dir, owner: "ann", say: ["A new one."] })
  expect(await next.search(QUESTIONS[0]!, "project")).toContain(STATEMENTS[0])
  expect(new Set(second.texts)).toEqual(new Set(["A new one.", QUESTIONS[0], "Which model is it?"]))
  await next.chat.close()
  const other: EmbedFunction = async (texts) => texts.map((text) => [...meaning(text), 1])
  const third = await opened({ embed: other, dir, owner: "ann", say: [] })
  expect(await third.search(QUESTIONS[3]!, "project")).toContain(STATEMENTS[3])
})

test("BEY-5 no owner's texts are embedded for another, nor found", async () => {
  const store = memoryStore()
  const { embed, texts } = ideal()
  await opened({ store, owner: "ann" })
  const bob = await opened({ store, owner: "bob", embed, say: ["I like tea."] })
  expect(await bob.search(QUESTIONS[0]!, "project")).not.toContain("parrot")
  expect(texts.some((text) => text.includes("parrot"))).toBe(false)
})

test.each<[string, EmbedFunction]>([
  ["fails", () => Promise.reject(new Error("no such model"))],
  [
    "throws",
    () => {
      throw new Error("no such model")
    },
  ],
  ["leaves a text out", async () => []],
  ["answers with something else", async () => ({}) as unknown as number[][]],
  ["answers with no numbers", async (texts) => texts.map(() => [Number.NaN])],
])("BEY-5 an embedding function that %s breaks no search, and it is said once", async (_, embed) => {
  const { search } = await opened({ embed })
  const first = await search("cello tune")
  expect(first).toContain(STATEMENTS[1])
  expect(first).toContain("The embedding function failed")
  const second = await search("cello tune")
  expect(second).toContain(STATEMENTS[1])
  expect(second).not.toContain("embedding function")
})

test("BEY-5 an embedding function that is late is not waited for", async () => {
  const never: EmbedFunction = () => new Promise(() => undefined)
  const embedded = new EmbeddedPassages({ embed: never, patience: 1, ask: () => new Promise(() => undefined) })
  await expect(embedded.nearest({ text: "heron", now: new Date() }, 0)).rejects.toThrow("took longer")
})

test("BEY-5 what is first in one of two orders is among the first of both", () => {
  const one = (uuid: string) => ({ source: "a", uuid, blocks: "0" })
  const ours = Array.from({ length: 50 }, (_, at) => one(`${at}`))
  const near = [one("near"), ...ours.toReversed().slice(0, 49)]
  const places = fuseByRank([ours, near]).map(({ uuid }) => uuid)
  expect(places.indexOf("near")).toBeLessThan(5)
  expect(places.indexOf("0")).toBeLessThan(5)
  expect(places).toHaveLength(51)
})

test("BEY-5 openAgent takes an embedding function too, and anything else is refused", async () => {
  const options = { model: MODEL, store: memoryStore(), settings: { memory: "off" } } as const
  const agent = await openAgent({ ...options, embed: ideal().embed, env: { ANTHROPIC_API_KEY: "test" } })
  await agent.close()
  await expect(openConversation({ ...options, embed: "yes" as unknown as EmbedFunction })).rejects.toThrow("embed")
})
