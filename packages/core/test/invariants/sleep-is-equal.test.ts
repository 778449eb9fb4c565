/**
 * Invariant 3 within one process: a conversation that was unloaded prepares the same bytes as one that was not, and reports the same state.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { manualClock, seededIds } from "../../src/base/clock.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { fileStore } from "../../src/journal/file/file-store.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { decidingLayer } from "../deciding-layer.ts"
import { EDITS_CACHES, openTestConversation } from "../open.ts"
import { fuzz, RUNS } from "../runs.ts"
import { isWhole } from "../size.ts"
import { conversations, decidedConversations, newPlayer, play } from "../steps.ts"
import { comparable, History, homeName, idle, tryPrepare } from "./history.ts"
import { histories } from "./history-steps.ts"

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "strata-sleep-"))
})
afterAll(() => rm(root, { recursive: true }))

/** Before which steps it is unloaded. */
const sleepsAmongSteps = fc.array(fc.boolean(), { minLength: 7, maxLength: 7 })

const reports = (chat: Conversation) => ({
  ...{
    fill: chat.windowUsage(),
    size: engineOf(chat).views.context.size(),
    accounting: chat.accounting(),
    ledger: chat.ledger(),
  },
  ...{
    cache: chat.cacheHistory(),
    words: chat.userMessages(),
    artifacts: chat.artifacts(),
    frontier: chat.workState(),
  },
})

let number = 0

test.each([
  ["without layers", conversations],
  ["with decisions of layers", decidedConversations],
])("invariant 3: a conversation that slept is equal to one that stayed awake, %s", async (_name, steps) => {
  let slept = 0
  await fc.assert(
    fc.asyncProperty(steps, sleepsAmongSteps, async (steps, sleeps) => {
      const id = `c${number++}`
      const open = async (isSleeper: boolean) => {
        const [layer, clock] = [decidingLayer(), manualClock()]
        const chat = await openTestConversation({
          ...{ id, layers: [layer], settings: EDITS_CACHES, clock, ids: seededIds("test") },
          ...(isSleeper ? { store: fileStore({ root, flush: "never" }) } : {}),
        })
        chat.on("entry", ({ entry }) => entry.type === "strata" && layer.decided(entry.uuid))
        return { chat, clock, player: newPlayer(layer) }
      }
      const [awake, sleeper] = [await open(false), await open(true)]
      for (const [at, step] of [...steps, { kind: "prepare" } as const].entries()) {
        if (sleeps[at % sleeps.length]) {
          expect(await idle(awake.chat, { clock: awake.clock, isWatched: true })).toBe(false)
          if (await idle(sleeper.chat, { clock: sleeper.clock, isWatched: false })) slept++
        }
        const expected = await play(awake.chat, step, awake.player)
        const actual = await play(sleeper.chat, step, sleeper.player)
        if (expected && actual) expect(serialiseRequest(actual)).toBe(serialiseRequest(expected))
        expect(reports(sleeper.chat)).toEqual(reports(awake.chat))
      }
      await sleeper.chat.close()
      await awake.chat.close()
    }),
    { ...fuzz, numRuns: Math.ceil(RUNS / 2) }, // each waits for the disk
  )
  expect(slept).toBeGreaterThan(RUNS / 2)
})

test.runIf(isWhole)("invariant 3, L5-1: and so is one with all layers, compactions, undos and memory", async () => {
  let slept = 0
  await fc.assert(
    fc.asyncProperty(histories, sleepsAmongSteps, async (checked, sleeps) => {
      const options = { memory: true, autoCompactTokens: 9_000 }
      const begin = () => new History(join(root, homeName(number++)), options)
      const [awake, sleeper] = [begin(), begin()]
      await awake.start()
      await sleeper.start()
      for (const [at, { step, isChecked }] of checked.entries()) {
        if (sleeps[at % sleeps.length]) {
          await awake.idle({ isWatched: true })
          if (await sleeper.idle({ isWatched: false })) slept++
        }
        await awake.take(step)
        await sleeper.take(step)
        await awake.chat.whenIdle()
        await sleeper.chat.whenIdle()
        if (!isChecked) continue
        const [expected, actual] = [await tryPrepare(awake.chat), await tryPrepare(sleeper.chat)]
        expect(actual && comparable(serialiseRequest(actual))).toBe(expected && comparable(serialiseRequest(expected)))
      }
      await awake.remove()
      await sleeper.remove()
    }),
    { ...fuzz, numRuns: Math.ceil(RUNS / 4) }, // each has two conversations on disk
  )
  expect(slept).toBeGreaterThan(RUNS / 4)
})
