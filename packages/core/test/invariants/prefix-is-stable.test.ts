/** Invariant 2: without a recorded decision, a request begins with the bytes of the one before it. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { openTestConversation } from "../open.ts"
import { fuzz } from "../runs.ts"
import { conversations, newPlayer, play } from "../steps.ts"

/** The end of the last block, the last message and the list. Everything before it must be repeated. */
const CLOSING = "]}]}"

test("invariant 2, CACHE-1: request n is a byte prefix of request n+1 unless a decision was recorded between them", async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(conversations, async (steps) => {
      const chat = await openTestConversation()
      const player = newPlayer()
      let last: string | undefined
      let decided = false
      chat.on("entry", ({ entry }) => {
        if (entry.type === "strata" && entry.subtype !== "tool-results-sent") decided = true
      })
      for (const step of [...steps, { kind: "prepare" } as const, { kind: "prepare" } as const]) {
        const request = await play(chat, step, player)
        if (!request) continue
        const body = serialiseRequest(request)
        if (last !== undefined && !decided) {
          compared++
          const prefix = last.slice(0, -CLOSING.length)
          if (!body.startsWith(prefix)) throw new Error(`${last}\n is not continued by\n${body}`)
        }
        last = body
        decided = false
      }
    }),
    fuzz,
  )
  expect(compared).toBeGreaterThan(fuzz.numRuns!) // most requests follow without a decision
})
