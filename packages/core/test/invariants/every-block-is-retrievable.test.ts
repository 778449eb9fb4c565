/** Invariant 4: everything added can be recalled byte for byte, including abandoned branches. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { toBlocks } from "../../src/messages/blocks.ts"
import { stringifyExact } from "../../src/messages/exact-json.ts"
import { handleFor } from "../../src/messages/media.ts"
import { openTestConversation } from "../open.ts"
import { fuzz } from "../runs.ts"
import { conversations, newPlayer, play } from "../steps.ts"

test("invariant 4, BEY-1: every block ever added is retrievable byte for byte", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, async (steps) => {
      const chat = await openTestConversation()
      const added = new Map<string, string>()
      chat.on("entry", ({ entry }) => {
        if (entry.type !== "user" && entry.type !== "assistant") return
        toBlocks(entry.message.content).forEach((block, at) => {
          added.set(`${entry.uuid}.${at}`, stringifyExact(block))
        })
      })
      const player = newPlayer()
      for (const step of [...steps, { kind: "prepare" } as const]) await play(chat, step, player)
      for (const [address, bytes] of added) {
        expect(stringifyExact(await chat.recall(address))).toBe(bytes)
        expect(stringifyExact(await chat.recall(handleFor(address)))).toBe(bytes)
      }
    }),
    fuzz,
  )
})
