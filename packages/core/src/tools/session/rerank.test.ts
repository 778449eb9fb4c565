import { expect, test } from "vitest"
import { openAgent } from "../../agent/open-agent.ts"
import { openConversation } from "../../conversation/open.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { type RecallTool, recallTool } from "./recall.ts"
import type { RecallMatch, RecallMatches, RecallSource } from "./recall-source.ts"
import { type Rerank, withReranking } from "./rerank.ts"

const MODEL = "claude-opus-5-5"
const HERONS = ["The heron sleeps.", "The heron and the heron and a heron.", "A heron is called Bertha."]

/** A simple reranker: prefers passages that share most letters with the last word of the query. */
const byName: Rerank = (query, passages) => {
  const wanted = query.split(" ").at(-1)!
  return passages
    .map((_, at) => at)
    .sort((a, b) => Number(passages[b]!.includes(wanted)) - Number(passages[a]!.includes(wanted)))
}

const firstOf = async (recall: RecallTool) =>
  /\n```\n(.*)\n```/.exec(String((await recall.execute({ search: "heron Berth" })).content))?.[1]

async function talked(rerank?: Rerank, given: { readonly toTool?: boolean } = {}) {
  const recall = recallTool(given.toTool && rerank ? { rerank } : {})
  const chat = await openConversation({
    ...{ model: MODEL, store: memoryStore(), tools: [recall], settings: { memory: "off" } },
    ...(rerank && !given.toTool ? { rerank } : {}),
  })
  for (const text of HERONS) await chat.add(text)
  return { chat, recall }
}

test("BEY-5 a reranker of the application puts what Recall found in order; without one the order is ours", async () => {
  const asked: string[] = []
  const lastFirst: Rerank = (query, passages) => {
    asked.push(query)
    return byName(query, passages)
  }
  for (const toTool of [false, true]) {
    const { chat, recall } = await talked(lastFirst, { toTool })
    expect(await firstOf(recall)).toBe(HERONS[2])
    await chat.close()
  }
  expect(asked).toEqual(["heron Berth", "heron Berth"])
  const { chat, recall } = await talked()
  expect(HERONS).toContain(await firstOf(recall))
  await chat.close()
})

test.each<[string, Rerank]>([
  ["fails", () => Promise.reject(new Error("no model"))],
  [
    "throws",
    () => {
      throw new Error("no model")
    },
  ],
  ["names places that are not there", () => [99, -1, 1.5]],
  ["answers with something else", () => ({ ranking: [] }) as unknown as number[]],
])("BEY-5 a reranker that %s leaves our order", async (_, rerank) => {
  const plain = await talked()
  const ours = await firstOf(plain.recall)
  await plain.chat.close()
  const { chat, recall } = await talked(rerank)
  expect(await firstOf(recall)).toBe(ours)
  await chat.close()
})

const found = (text: string): RecallMatch => ({
  ...{ handle: text, kind: "user", time: "", text, at: 0, matched: { from: 0, to: text.length } },
})

const matches: RecallMatches = { found: HERONS.map(found), more: 0 }
const source = { search: async () => matches } as unknown as RecallSource

test("BEY-5 a reranker that is late leaves our order, and what it leaves out comes after", async () => {
  const search = { text: "heron", in: "project", limit: 2 } as const
  const late = withReranking(source, () => new Promise(() => undefined), 1)
  expect((await late.search(search)).found.map(({ text }) => text)).toEqual(HERONS.slice(0, 2))
  const last = await withReranking(source, () => [2]).search(search)
  expect(last.found.map(({ text }) => text)).toEqual([HERONS[2], HERONS[0]])
  expect(last.more).toBe(1)
})

test("BEY-5 openAgent takes a reranker too, and anything else is refused", async () => {
  const options = { model: MODEL, store: memoryStore(), settings: { memory: "off" } } as const
  const agent = await openAgent({ ...options, rerank: byName, env: { ANTHROPIC_API_KEY: "test" } })
  await agent.close()
  await expect(openConversation({ ...options, rerank: "yes" as unknown as Rerank })).rejects.toThrow("rerank")
})
