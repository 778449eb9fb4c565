import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import { overtakenWork, type WorkRound } from "../../../test/overtaken-work.ts"
import { size } from "../../../test/size.ts"
import type { Conversation } from "../../conversation/conversation.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { type Block, isToolResult } from "../../messages/blocks.ts"
import { handleOf } from "../../messages/media.ts"
import { isReplaced } from "../../views/context/render-decisions.ts"
import { serialiseRequest } from "../../views/context/request.ts"

const MODEL = "claude-opus-4-6"

async function work(chat: Conversation, rounds: readonly WorkRound[]): Promise<void> {
  await chat.add("Look at the files.")
  for (const [at, { tool, input, output, failed }] of rounds.entries()) {
    await chat.record({
      ...{ id: `msg_${at}`, model: MODEL, stop_reason: "tool_use" },
      content: [
        { type: "text", text: `Step ${at}.` },
        { type: "tool_use", id: `toolu_${at}`, name: tool, input },
      ],
    })
    const result = { type: "tool_result" as const, tool_use_id: `toolu_${at}`, content: output }
    await chat.add({ role: "user", content: [failed ? { ...result, is_error: true } : result] })
  }
  await chat.record({
    id: "msg_end",
    model: MODEL,
    stop_reason: "end_turn",
    content: [{ type: "text", text: "Done." }],
  })
}

const NO_LAYERS = { model: MODEL, layers: [], settings: { figures: { "tail-tokens": 200 } } }
const blocksOf = async (chat: Conversation) =>
  (await chat.prepare()).messages.flatMap(({ content }) => content as Block[])
const bytes = async (chat: Conversation) => serialiseRequest(await chat.prepare())

const LONG = Array.from({ length: 900 }, (_, at) => `${at} value_${at}`).join("\n")
const READ: WorkRound = { tool: "Read", input: { file_path: "/p/a.ts" }, output: LONG.slice(0, 3_000), failed: false }
const EDIT: WorkRound = { tool: "Edit", input: { file_path: "/p/a.ts" }, output: "Updated.", failed: false }
const LIST: WorkRound = { tool: "Bash", input: { command: "ls -R" }, output: LONG, failed: false }
const ECHO = ["one", "two", "three"].map(
  (word): WorkRound => ({
    ...{ tool: "Bash", input: { command: `echo ${word}` }, output: word, failed: false },
  }),
)

describe("L4-38 pruning a conversation", () => {
  test("L4-38 it is one decision with its reasons, and a dry run says exactly what happens", async () => {
    await using chat = await openTestConversation(NO_LAYERS)
    await work(chat, [READ, EDIT, LIST, ...ECHO])
    await chat.prepare()
    const before = await entriesOf(chat)
    const planned = await chat.clearResults({ prune: true, dryRun: true })
    expect(planned).toMatchObject({ results: 1, shortened: 1, images: 0 })
    expect(planned.tokensAfter).toBeLessThan(planned.tokensBefore)
    expect(await entriesOf(chat)).toEqual(before)
    expect(await chat.clearResults({ prune: true })).toEqual(planned)
    const decisions = (await entriesOf(chat)).slice(before.length).filter(({ type }) => type === "strata")
    expect(decisions).toMatchObject([
      {
        subtype: "tool-results-cleared",
        toolUseIds: ["toolu_0"],
        why: "asked",
        overtaken: { toolu_0: "changed" },
        shortened: [{ toolUseId: "toolu_2" }],
      },
    ])
    expect(await chat.clearResults({ prune: true })).toMatchObject({ results: 0, shortened: 0 })
  })

  test("L4-38 the estimate of what it saves is near what it saves", async () => {
    await using chat = await openTestConversation(NO_LAYERS)
    await work(chat, [READ, EDIT, LIST, ...ECHO])
    const { tokensBefore, tokensAfter } = await chat.clearResults({ prune: true })
    const decision = (await entriesOf(chat)).find(
      (entry) => "subtype" in entry && entry.subtype === "tool-results-cleared",
    )
    const { saves } = (decision as unknown as { effect: { saves: number } }).effect
    expect(Math.abs(saves - (tokensBefore - tokensAfter))).toBeLessThan((tokensBefore - tokensAfter) * 0.1)
  })

  test("L4-38, CACHE-6 thinking that is bound to a result that was only shortened is dropped, and comes back with an undo", async () => {
    await using chat = await openTestConversation({ ...NO_LAYERS, model: "claude-opus-5-5" })
    await work(chat, [LIST, ...ECHO])
    await chat.add("Go on.")
    await chat.record({
      ...{ id: "msg_thought", model: "claude-opus-5-5", stop_reason: "end_turn" },
      content: [
        { type: "thinking", thinking: "Hm.", signature: "s" },
        { type: "text", text: "Yes." },
      ],
    })
    const before = await bytes(chat)
    expect(await chat.clearResults({ prune: true })).toMatchObject({ results: 0, shortened: 1 })
    expect((await blocksOf(chat)).some(({ type }) => type === "thinking")).toBe(false)
    await chat.undo()
    expect(await bytes(chat)).toBe(before)
  })

  test("L4-38 property: only results change, all of it is recalled, and undo gives the byte-identical request", async () => {
    let cut = 0
    await fc.assert(
      fc.asyncProperty(overtakenWork, async (rounds) => {
        const store = memoryStore()
        const chat = await openTestConversation({ ...NO_LAYERS, store })
        await work(chat, rounds)
        const [before, blocks] = [await bytes(chat), await blocksOf(chat)]
        const { results, shortened, tokensBefore, tokensAfter } = await chat.clearResults({ prune: true })
        const [after, cutBlocks] = [await bytes(chat), await blocksOf(chat)]
        expect(tokensAfter).toBeLessThanOrEqual(tokensBefore)
        expect(cutBlocks).toHaveLength(blocks.length)
        const changed = cutBlocks.flatMap((block, at) => {
          const original = blocks[at]!
          if (JSON.stringify(block) === JSON.stringify(original)) return []
          if (!isToolResult(block) || !isToolResult(original)) throw new Error(`${original.type} was changed`)
          expect(block).toEqual({ ...original, content: block.content })
          expect(isReplaced(String(block.content))).toBe(true)
          expect(String(original.content)).not.toContain("please do not deploy")
          return [block]
        })
        cut += changed.length
        expect(changed).toHaveLength(results + shortened)
        for await (const entry of chat.entries())
          if (entry.type === "user" && typeof entry.message.content !== "string")
            for (const [at, block] of entry.message.content.entries())
              expect(await chat.recall(handleOf(entry.uuid, at))).toEqual(block)
        await chat.close()
        const again = await openTestConversation({ ...NO_LAYERS, store })
        expect(await bytes(again)).toBe(after)
        if (changed.length > 0) expect(await again.undo()).toMatchObject({ kind: "clearing" })
        expect(await bytes(again)).toBe(before)
        await again.close()
      }),
      { numRuns: size(6, 200), seed: 1 },
    )
    expect(cut).toBeGreaterThan(5)
  })
})
