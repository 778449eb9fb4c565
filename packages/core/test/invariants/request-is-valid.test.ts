/** Invariant 1: the API accepts every request, regardless of what was added or omitted before. */
import fc from "fast-check"
import { test } from "vitest"
import { validateRequest } from "../../src/messages/validate/validator.ts"
import { findModel } from "../../src/tokens/models.ts"
import { decidingLayer } from "../deciding-layer.ts"
import { EDITS_CACHES, openTestConversation } from "../open.ts"
import { fuzz } from "../runs.ts"
import { conversations, decidedConversations, newPlayer, play } from "../steps.ts"

test.each([
  ["without layers", conversations],
  ["with decisions of layers", decidedConversations],
])("invariant 1, MSG-12: every request passes the strict validator, %s", async (_name, steps) => {
  const { facts } = findModel("claude-opus-4-6", EDITS_CACHES.models)
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const layer = decidingLayer()
      const chat = await openTestConversation({ layers: [layer], settings: EDITS_CACHES })
      const player = newPlayer(layer)
      chat.on("entry", ({ entry }) => entry.type === "strata" && layer.decided(entry.uuid))
      for (const step of [...steps, { kind: "prepare" } as const]) {
        const request = await play(chat, step, player) // prepare() itself throws on a violation
        if (!request) continue
        const violations = validateRequest({ request, model: facts })
        if (violations.length > 0) throw new Error(JSON.stringify(violations))
      }
    }),
    fuzz,
  )
})
