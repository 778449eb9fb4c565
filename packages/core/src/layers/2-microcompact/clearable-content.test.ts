import fc from "fast-check"
import { expect, test } from "vitest"
import { decidingLayer } from "../../../test/deciding-layer.ts"
import { EDITS_CACHES, openTestConversation } from "../../../test/open.ts"
import { size } from "../../../test/size.ts"
import { decidedConversations, newPlayer, play } from "../../../test/steps.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { findModel } from "../../tokens/models.ts"
import { loadViews } from "../../views/load.ts"
import { viewOptions } from "../../views/views.ts"
import { listClearableContent } from "./clearable-content.ts"

const RUNS = size(50, 200)
const flags = { clearableTools: [] }

test("L2-7 property: what is surveyed step by step is what is surveyed in one go, after undoing, going back and boundaries too", async () => {
  const { models } = EDITS_CACHES
  const options = viewOptions(findModel("claude-opus-4-6", models).facts, { models, sendsBetas: false })
  let found = 0
  await fc.assert(
    fc.asyncProperty(decidedConversations, async (steps) => {
      const store = memoryStore()
      const layer = decidingLayer()
      const chat = await openTestConversation({ store, layers: [layer], settings: EDITS_CACHES })
      chat.on("entry", ({ entry }) => entry.type === "strata" && layer.decided(entry.uuid))
      const player = newPlayer(layer)
      for (const step of [...steps, { kind: "prepare" } as const]) {
        await play(chat, step, player)
        listClearableContent({ views: engineOf(chat).views, flags })
      }
      const journal = await store.open({ project: "-nowhere", id: "test" }, { access: "read", create: false })
      const { views } = await loadViews(journal, options)
      expect(listClearableContent({ views: engineOf(chat).views, flags })).toEqual(
        listClearableContent({ views, flags }),
      )
      found += listClearableContent({ views, flags }).results.length
    }),
    { numRuns: RUNS, seed: 1 },
  )
  expect(found).toBeGreaterThan(RUNS / 8) // the property is not an empty one
})
