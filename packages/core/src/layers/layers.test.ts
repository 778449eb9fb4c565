/** Layers 1 and 2 on random conversations with all invariants, with limits so small that the layers always act. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { openTestConversation } from "../../test/open.ts"
import { fuzz, RUNS } from "../../test/runs.ts"
import { conversations, newPlayer, play } from "../../test/steps.ts"
import { manualClock, seededIds } from "../base/clock.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { serialiseRequest } from "../views/context/request.ts"
import { toolResultStorage } from "./1-tool-results/tool-result-storage.ts"
import { microcompaction } from "./2-microcompact/microcompaction.ts"

const MINUTE = 60_000
const settings = {
  figures: {
    "tool-result-limit": 6,
    "tool-result-preview": 4,
    "message-results-limit": 20,
    "idle-gap": 30,
    "idle-keep": 1,
    "cache-edit-active": 2,
    "cache-edit-keep": 1,
  },
}
const editing = { models: { "claude-opus-4-6": { accepts: { cacheEditing: true } } } }

test("L1-4, L2-3, L2-7 for any conversation, requests are valid, nothing fails, and a resume sends the same bytes", async () => {
  await fc.assert(
    fc.asyncProperty(
      conversations,
      fc.constantFrom("claude-opus-4-6", "claude-opus-5-5"),
      fc.constantFrom(0, 1, 4, 10, 40),
      fc.boolean(),
      async (steps, model, pace, editsCaches) => {
        const store = memoryStore()
        const clock = manualClock()
        const ids = seededIds("layers")
        const open = () =>
          openTestConversation({
            ...{ store, clock, ids, model, layers: [toolResultStorage(), microcompaction()] },
            settings: { ...settings, ...(editsCaches ? editing : {}) },
          })
        const chat = await open()
        const failures: unknown[] = []
        chat.on("layerFailed", (failure) => failures.push(failure))
        const player = newPlayer()
        for (const step of steps) {
          clock.advance(pace * MINUTE)
          await play(chat, step, player)
        }
        const request = await chat.prepare()
        expect(failures).toEqual([])
        expect(serialiseRequest(await chat.prepare())).toBe(serialiseRequest(request))
        await chat.close()
        expect(serialiseRequest(await (await open()).prepare())).toBe(serialiseRequest(request))
      },
    ),
    { ...fuzz, numRuns: Math.ceil(RUNS / 5) },
  )
})
