/**
 * After any number of offloaded, cleared and compacted results, every block can be fetched by its handle, and every displayed handle
 * resolves.
 */
import fc from "fast-check"
import { expect, test } from "vitest"
import { NoCompactionError, StrataError } from "../../../src/base/errors.ts"
import type { Conversation } from "../../../src/conversation/conversation.ts"
import { isBoundaryEntry } from "../../../src/journal/entries.ts"
import { toolResultStorage } from "../../../src/layers/1-tool-results/tool-result-storage.ts"
import { toBlocks } from "../../../src/messages/blocks.ts"
import { stringifyExact } from "../../../src/messages/exact-json.ts"
import { handleOf } from "../../../src/messages/media.ts"
import { recallTool } from "../../../src/tools/session/recall.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { openCompacting } from "../../compacting.ts"
import { decidingLayer, type LayerOrder } from "../../deciding-layer.ts"
import { fuzz } from "../../runs.ts"
import { isWhole } from "../../size.ts"
import { summariser } from "../../summariser.ts"

const COMPACTIONS = 10

const WINDOW = 60_000

async function open() {
  const layer = decidingLayer()
  const recall = recallTool()
  const chat = await openCompacting({
    ...{ summariser: summariser({ window: WINDOW }), window: WINDOW, tools: [recall] },
    earlier: [toolResultStorage(), layer],
  })
  const added = new Map<string, string>()
  chat.on("entry", ({ entry }) => {
    if (entry.type !== "user" && entry.type !== "assistant") return
    toBlocks(entry.message.content).forEach((block, at) => {
      added.set(handleOf(entry.uuid, at), stringifyExact(block))
    })
  })
  return { chat, layer, added, recall }
}

let calls = 0
async function exchange(chat: Conversation, size: number) {
  const id = `toolu_${calls++}`
  await chat.add(`Please look at part ${calls}. Always keep the tests green.`)
  const call = { type: "tool_use" as const, id, name: "Bash", input: { command: `check ${calls}` } }
  await chat.add({ role: "assistant", content: [call] })
  const content = `needle-${calls} is here\n${`line of part ${calls}\n`.repeat(size)}`
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] })
  await chat.add({ role: "assistant", content: `Part ${calls} is done. ${"It was fine. ".repeat(size)}` })
}

/** The handles in a request. Nothing else in these conversations looks like one. */
const handlesIn = (request: string) => new Set(request.match(/\b[0-9a-f]{10}(?:\.\d+){0,2}\b/g))

async function everyHandleResolves(chat: Conversation): Promise<number> {
  const handles = handlesIn(serialiseRequest(await chat.prepare()))
  for (const handle of handles) expect(await chat.recall(handle), handle).toBeDefined()
  return handles.size
}

const compacted = (chat: Conversation) =>
  chat.compact().catch((error: unknown) => {
    if (!(error instanceof NoCompactionError || error instanceof StrataError)) throw error // too little to compact
  })

const orders: fc.Arbitrary<LayerOrder> = fc.oneof(
  fc.record({ what: fc.constantFrom("clear" as const, "persist" as const), which: fc.nat(5) }),
  fc.record({ what: fc.constant("undo" as const), which: fc.nat(5) }),
)
const steps = fc.array(
  fc.record({ size: fc.constantFrom(1, 20, 200, 3_000), order: fc.option(orders), compacts: fc.boolean() }),
  { minLength: 3, maxLength: 12 },
)

test("BEY-1 property: every block ever added is fetched byte for byte by its handle, and every handle in a request resolves", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (played) => {
      const { chat, layer, added } = await open()
      for (const { size, order, compacts } of played) {
        await exchange(chat, size)
        if (order) layer.order(order)
        if (compacts) await compacted(chat)
        await chat.add("Go on.")
        await everyHandleResolves(chat)
        await chat.add({ role: "assistant", content: "Yes." })
      }
      for (const [handle, bytes] of added) expect(stringifyExact(await chat.recall(handle))).toBe(bytes)
      await chat.close()
    }),
    { ...fuzz, numRuns: Math.ceil(fuzz.numRuns! / 50) },
  )
})

test.runIf(isWhole)(
  `BEY-1: after ${COMPACTIONS} compactions in a row everything is in reach, and a search finds what they replaced`,
  async () => {
    const { chat, layer, added, recall } = await open()
    const first = calls + 1
    let boundaries = 0
    chat.on("entry", ({ entry }) => {
      if (isBoundaryEntry(entry)) boundaries++
    })
    for (let nth = 0; nth < COMPACTIONS; nth++) {
      await exchange(chat, 60)
      await exchange(chat, 3_000)
      layer.order({ what: "clear", which: 0 })
      await chat.add("Go on.")
      await chat.prepare()
      await chat.add({ role: "assistant", content: "Yes." })
      await compacted(chat)
      await chat.add("And now?")
      expect(await everyHandleResolves(chat)).toBeGreaterThan(2)
      await chat.add({ role: "assistant", content: "Yes." })
    }
    expect(boundaries).toBeGreaterThanOrEqual(COMPACTIONS)
    for (const [handle, bytes] of added) expect(stringifyExact(await chat.recall(handle))).toBe(bytes)
    const text = serialiseRequest(await chat.prepare())
    expect(text).toMatch(/It replaces the messages [0-9a-f]{10} to [0-9a-f]{10}\. Recall returns any of them/)
    const found = String((await recall.execute({ search: `needle-${first + 1}`, kind: "result" })).content)
    expect(found.split("\n\n")[1]).toContain(`needle-${first + 1} is here`)
    await chat.close()
  },
)
