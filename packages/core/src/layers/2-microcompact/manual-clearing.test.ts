import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import type { Conversation } from "../../conversation/conversation.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { CLEARED_MARKER } from "../../views/context/render-decisions.ts"
import { serialiseRequest } from "../../views/context/request.ts"

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } } as const

let answers = 0
async function call(chat: Conversation, tool: string, id: string, size: number): Promise<void> {
  await chat.record({
    ...{ id: `msg_${answers++}`, model: "claude-opus-4-6", stop_reason: "tool_use" },
    content: [{ type: "tool_use", id, name: tool, input: { about: id } }],
  })
  const content = `${id} ${"some words ".repeat(size / 2)}`
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] })
}

/** Six results of about 2,000 tokens; the model has not answered the last one. */
async function working(store = memoryStore()) {
  const chat = await openTestConversation({ store })
  await chat.add({
    role: "user",
    content: ["Look at these.", image].map((block) =>
      typeof block === "string" ? ({ type: "text", text: block } as const) : block,
    ),
  })
  for (const [at, tool] of ["Read", "mcp__wiki", "Bash", "Read", "Bash", "Bash"].entries())
    await call(chat, tool, `toolu_${at}`, 2_000)
  return { chat, store }
}

const sent = async (chat: Conversation) => serialiseRequest(await chat.prepare())
const clearedIn = (text: string) => text.split(CLEARED_MARKER).length - 1

describe("L2-13 clearing by hand", () => {
  test("down to a size: oldest first, any tool, and a dry run that says exactly what happens", async () => {
    const { chat } = await working()
    await chat.prepare()
    const before = await entriesOf(chat)
    const planned = await chat.clearResults({ downTo: 8_000, dryRun: true })
    expect(await entriesOf(chat)).toEqual(before)
    expect(planned).toMatchObject({ images: 0, tokensBefore: chat.windowUsage().used })
    expect(planned.tokensAfter).toBeLessThanOrEqual(8_000)
    expect(await chat.clearResults({ downTo: 8_000 })).toEqual(planned)
    expect(chat.windowUsage().used).toBe(planned.tokensAfter)
    const text = await sent(chat)
    expect(clearedIn(text)).toBe(planned.results)
    expect(text).toContain("toolu_5 some words")
    expect(text).not.toContain("toolu_0 some words")
    expect(text).not.toContain("toolu_1 some words")
  })

  test("without saying what to clear it is refused, with the choices", async () => {
    const { chat } = await working()
    const choices = /downTo: 60_000.*tool: "Read".*images: true.*prune: true.*Nothing was cleared/
    for (const wrong of [{}, { downTo: undefined }, { tool: 5 }, { images: false }, { prune: false }])
      await expect(chat.clearResults(wrong as never)).rejects.toThrow(choices)
  })

  test("never what the model has not answered, however small the context should be", async () => {
    const { chat } = await working()
    expect(await chat.clearResults({ downTo: 0 })).toMatchObject({ results: 5 })
    expect(await sent(chat)).toContain("toolu_5 some words")
    expect(await chat.clearResults({ downTo: 0 })).toMatchObject({ results: 0 })
  })

  test("what was cleared is recorded as asked for, stays in reach by its handle, and says what the cache costs", async () => {
    const { chat } = await working()
    const { rewrites, dollars } = await chat.clearResults({ downTo: 0 })
    expect(rewrites).toBeGreaterThan(1_000)
    expect(dollars).toBeGreaterThan(0)
    const decision = (await entriesOf(chat)).find(
      (entry) => entry.type === "strata" && entry.subtype === "tool-results-cleared",
    )
    expect(decision).toMatchObject({ why: "asked" })
    const [, handle] = /Recall: ([0-9a-f-]+\.\d+)/.exec(await sent(chat)) ?? []
    expect(JSON.stringify(await chat.recall(handle!))).toContain("toolu_0 some words")
  })

  test("it can be undone, and the request is the one from before, also after a restart", async () => {
    const { chat, store } = await working()
    const before = await sent(chat)
    await chat.clearResults({ downTo: 4_000 })
    expect(await sent(chat)).not.toBe(before)
    expect(await chat.undo({ dryRun: true })).toMatchObject({ kind: "clearing", later: { messages: 0 } })
    await chat.undo()
    expect(await sent(chat)).toBe(before)
    await chat.close()
    expect(await sent(await openTestConversation({ store }))).toBe(before)
  })

  test("BEY-3 only one tool's results, down to the newest few", async () => {
    const { chat } = await working()
    expect(await chat.clearResults({ tool: "bash", keep: 1, dryRun: true })).toMatchObject({ results: 1 })
    expect(await chat.clearResults({ tool: "Bash", keep: 0 })).toMatchObject({ results: 2 })
    const text = await sent(chat)
    expect(clearedIn(text)).toBe(2)
    for (const id of ["toolu_0", "toolu_1", "toolu_3", "toolu_5"]) expect(text).toContain(`${id} some words`)
  })

  test("BEY-3 only images, each replaced by its handle; undo brings them back", async () => {
    const { chat } = await working()
    const before = await sent(chat)
    expect(await chat.clearResults({ images: true, dryRun: true })).toMatchObject({ images: 1, results: 0 })
    const report = await chat.clearResults({ images: true })
    expect(report.tokensAfter).toBeLessThan(report.tokensBefore)
    const text = await sent(chat)
    expect(text).toContain("left out on request. Recall: ")
    expect(text).not.toContain(PIXEL)
    await chat.undo()
    expect(await sent(chat)).toBe(before)
  })

  test("with everything switched off it changes nothing and says so", async () => {
    const chat = await openTestConversation({ settings: { off: true } })
    await chat.add("Hello")
    await expect(chat.clearResults({ downTo: 0 })).rejects.toThrow("switched off")
  })
})
