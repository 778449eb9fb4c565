/** Invariant 3: a conversation that was closed and reopened prepares the same bytes as one that stayed open. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { seededIds } from "../../src/base/clock.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { fileStore } from "../../src/journal/file/file-store.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { type DecidingLayer, decidingLayer } from "../deciding-layer.ts"
import { EDITS_CACHES, openTestConversation } from "../open.ts"
import { fuzz, RUNS } from "../runs.ts"
import { conversations, decidedConversations, newPlayer, play } from "../steps.ts"

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "strata-resume-"))
})
afterAll(() => rm(root, { recursive: true }))

/** After which steps the conversation is closed and reopened: about every fourth. */
const interruptionsAmongSteps = fc.array(
  fc.nat(3).map((n) => n === 0),
  { minLength: 7, maxLength: 7 },
)

let conversation = 0

// concurrent, because they mostly wait for the disk
test.concurrent.each([
  ["without layers", conversations],
  ["with decisions of layers", decidedConversations],
])(
  "invariant 3, JRN-2, L2-3: the request after a resume is byte-identical to the one without the interruption, %s",
  async (_name, steps) => {
    await fc.assert(
      fc.asyncProperty(steps, interruptionsAmongSteps, async (steps, interruptions) => {
        const id = `c${conversation++}`
        const store = fileStore({ root, flush: "never" })
        const [liveLayer, resumedLayer] = [decidingLayer(), decidingLayer()]
        const live = await openTestConversation({ layers: [liveLayer], settings: EDITS_CACHES })
        const ids = seededIds("test") // the same for both, because recall handles refer to messages by uuid
        const options = { store, id, ids, layers: [resumedLayer], settings: EDITS_CACHES }
        let resumed = await openTestConversation(options)
        const [livePlayer, resumedPlayer] = [newPlayer(liveLayer), newPlayer(resumedLayer)]
        const follow = (chat: Conversation, layer: DecidingLayer) =>
          chat.on("entry", ({ entry }) => entry.type === "strata" && layer.decided(entry.uuid))
        follow(live, liveLayer)
        follow(resumed, resumedLayer)
        for (const [at, step] of [...steps, { kind: "prepare" } as const].entries()) {
          if (interruptions[at % interruptions.length]) {
            await resumed.close()
            resumed = await openTestConversation(options)
            follow(resumed, resumedLayer)
          }
          const expected = await play(live, step, livePlayer)
          const actual = await play(resumed, step, resumedPlayer)
          if (!expected || !actual) continue
          expect(serialiseRequest(actual)).toBe(serialiseRequest(expected))
          expect(engineOf(resumed).views.context.size()).toEqual(engineOf(live).views.context.size())
        }
        await resumed.close()
      }),
      { ...fuzz, numRuns: Math.ceil(RUNS / 2) }, // each is opened several times, on disk
    )
  },
)
