import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import { manualClock, seededIds } from "../../base/clock.ts"
import type { Conversation } from "../../conversation/conversation.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { type Block, isToolResult } from "../../messages/blocks.ts"
import { handleFor } from "../../messages/media.ts"
import { CLEARED_MARKER, renderCleared } from "../../views/context/render-decisions.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import { Views } from "../../views/views.ts"
import { microcompaction } from "./microcompaction.ts"
import { stubRoom } from "./stubs.ts"

const FILLER = "nothing that anyone will need again\n".repeat(60)
const AFTER_PAUSE = 61 * 60_000

async function sevenCalls(chat: Conversation, text: (n: number) => string) {
  await chat.add({ role: "user", content: "go" })
  for (let n = 0; n < 7; n++) {
    const call = { type: "tool_use", id: `toolu_${n}`, name: "Bash", input: {} }
    const usage = { input_tokens: 100, output_tokens: 5 }
    await chat.record({ id: `msg_${n}`, model: "claude-opus-4-6", content: [call], stop_reason: "tool_use", usage })
    const result = { type: "tool_result", tool_use_id: `toolu_${n}`, content: text(n) } as const
    await chat.add({ role: "user", content: [result] })
  }
}

const cleared = (messages: readonly { readonly content: unknown }[]) =>
  messages
    .flatMap(({ content }) => content as Block[])
    .flatMap((block) => (isToolResult(block) && String(block.content).startsWith(CLEARED_MARKER) ? block : []))

describe("L2-7, BEY-1 what a cleared result leaves in its place", () => {
  const open = () => {
    const clock = manualClock()
    const shared = { store: memoryStore(), clock, ids: seededIds("residue"), layers: [microcompaction()] }
    return { clock, chat: () => openTestConversation(shared) }
  }

  test("marker, handle, and what is exact in it; a resume sends the same bytes", async () => {
    const { clock, chat: again } = open()
    const chat = await again()
    await sevenCalls(chat, (n) => `${FILLER}Error: shard-${n} is gone\nrows copied: 98765${n}\n${FILLER}`)
    clock.advance(AFTER_PAUSE)
    const request = await chat.prepare()
    const [first, second] = cleared(request.messages)
    expect(first!.content).toMatch(
      /^\[Old tool result content cleared\] Recall: [0-9a-f]{10}\.0 It held: "Error: shard-0 is gone", .*987650/,
    )
    expect(second!.content).toContain("shard-1")
    const bytes = serialiseRequest(request)
    await chat.close()
    const resumed = await again()
    expect(serialiseRequest(await resumed.prepare())).toBe(bytes)
    const handle = /Recall: (\S+)/.exec(String(first!.content))![1]!
    expect(JSON.stringify(await resumed.recall(handle))).toContain("987650")
  })

  test("the text is in the decision, so it does not depend on the version that reads it", async () => {
    const { clock, chat: again } = open()
    const chat = await again()
    await sevenCalls(chat, () => `${FILLER}port 50443\n${FILLER}`)
    clock.advance(AFTER_PAUSE)
    await chat.prepare()
    const entries = await entriesOf(chat)
    const decision = entries.find((entry) => entry.type === "strata" && entry.subtype === "tool-results-cleared")!
    expect(decision).toMatchObject({ residues: { toolu_0: expect.stringContaining("50443") } })
    const views = new Views({ family: "claude-5" })
    for (const entry of entries)
      views.apply(entry === decision ? ({ ...decision, residues: { toolu_0: "as it was" } } as typeof decision) : entry)
    expect(cleared(views.context.messages().messages)[0]!.content).toMatch(/It held: as it was$/)
  })

  test("a decision without stubs shows what it always showed", () => {
    const result = { type: "tool_result", tool_use_id: "toolu_0", content: "x" } as const
    const address = "0198c0de-0000-7000-8000-000000000001.0"
    expect(renderCleared(result, address).content).toBe(`${CLEARED_MARKER} Recall: ${handleFor(address)}`)
  })

  test("a stub is at most a quarter of the result, so a short result is not worth clearing", async () => {
    expect([100, 1_000, 10_000, 100_000].map((tokens) => stubRoom(tokens))).toEqual([25, 65, 110, 120])
    const { clock, chat: again } = open()
    const chat = await again()
    await sevenCalls(chat, () => "10.20.30.40 is the address of the server")
    clock.advance(AFTER_PAUSE)
    expect(cleared((await chat.prepare()).messages)).toEqual([])
  })
})
