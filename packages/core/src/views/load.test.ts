/** Opening without the newest checkpoint: what is read then, and that the views are the same. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { decidingLayer } from "../../test/deciding-layer.ts"
import { EDITS_CACHES, openTestConversation } from "../../test/open.ts"
import { fuzz } from "../../test/runs.ts"
import { conversations, decidedConversations, newPlayer, play, type Step } from "../../test/steps.ts"
import { engineOf } from "../conversation/conversation.ts"
import type { Journal } from "../journal/store.ts"
import { loadViews } from "./load.ts"
import { boundaryOf, hasSlowStates, toJson, type Views } from "./views.ts"

const OPTIONS = { family: "claude-4", models: EDITS_CACHES.models } as const
/** The layer decides once before each request, and may have decisions to make from earlier steps. */
const COMPACTION: readonly Step[] = [
  { kind: "decide", order: { what: "compact", keepRounds: 1 } },
  ...Array.from({ length: 10 }, (): Step => ({ kind: "prepare" })),
]

/** A journal that counts how many entries are read, and keeps the checkpoints that are written. */
function watched(journal: Journal, checkpoint: () => unknown) {
  const seen = { entries: 0, written: [] as unknown[] }
  async function* counted(entries: ReturnType<Journal["entries"]>) {
    for await (const entry of entries) {
      seen.entries++
      yield entry
    }
  }
  const watching: Journal = {
    ...journal,
    resume: async () => ({ ...(await journal.resume()), checkpoint: checkpoint() }),
    entries: () => counted(journal.entries()),
    range: (wanted) => counted(journal.range(wanted)),
    writeCheckpoint: async (value) => void seen.written.push(value),
  }
  return { journal: watching, seen }
}

/** Plays steps with compactions in between, and collects the checkpoint of each. */
async function played(parts: readonly (readonly Step[])[]) {
  const layer = decidingLayer()
  const chat = await openTestConversation({ layers: [layer], settings: EDITS_CACHES })
  const player = newPlayer(layer)
  const { journal } = engineOf(chat).record
  const checkpoints: unknown[] = []
  for (const [at, part] of parts.entries()) {
    for (const step of at === 0 ? part : [...COMPACTION, ...part]) await play(chat, step, player)
    checkpoints.push(await journal.readCheckpoint())
  }
  await play(chat, { kind: "prepare" }, player)
  return { journal, checkpoints }
}

/** Everything that views know, as they would store it. */
async function stateOf(views: Views): Promise<unknown> {
  await views.catchUp()
  return views.checkpoint("test")
}

test("JRN-2 JRN-4 property: without a checkpoint the views are the same, and a complete checkpoint is written in the background", async () => {
  await fc.assert(
    fc.asyncProperty(decidedConversations, decidedConversations, async (before, after) => {
      const { journal, checkpoints } = await played([before, after])
      const usual = await loadViews(journal, OPTIONS)
      const { journal: without, seen } = watched(journal, () => undefined)
      const { views } = await loadViews(without, OPTIONS)
      const expected = await stateOf(usual.views)
      expect(await stateOf(views)).toEqual(expected)
      if (usual.read === "all" || checkpoints[1] === undefined) return // no boundary is on the path
      expect(seen.written.map((one) => [boundaryOf(one) === undefined, hasSlowStates(one)])).toEqual([
        [false, false],
        [false, true],
      ])
      for (const checkpoint of seen.written) {
        const again = await loadViews(watched(journal, () => checkpoint).journal, OPTIONS)
        expect(again.read).toBe("tail")
        expect(await stateOf(again.views)).toEqual(expected)
      }
    }),
    fuzz,
  )
})

test("JRN-4 property: with the checkpoint of an earlier boundary nothing before that boundary is read", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, conversations, conversations, async (first, second, third) => {
      const { journal, checkpoints } = await played([first, second, third])
      const { journal: killed, seen } = watched(journal, () => checkpoints[1])
      const { views, read } = await loadViews(killed, OPTIONS)
      const expected = await stateOf((await loadViews(journal, OPTIONS)).views)
      expect(await stateOf(views)).toEqual(expected)
      if (read === "all") return // the conversation went back to before that boundary
      const since: unknown[] = []
      for await (const entry of journal.range({ first: boundaryOf(checkpoints[1])! })) since.push(entry)
      expect(seen.entries).toBe(since.length)
    }),
    fuzz,
  )
})

test("JRN-4 a decision made after going back to before a boundary counts, although the conversation came back", async () => {
  const text: Step = { kind: "user", content: "fix the test" }
  const { journal, checkpoints } = await played([
    [text, { kind: "attach", text: "fix the test", isMemory: false }],
    [text, { kind: "rewind", to: 0 }],
    [text, { kind: "rewind", to: 22 }],
  ])
  const { views } = await loadViews(watched(journal, () => checkpoints[1]).journal, OPTIONS)
  expect(await stateOf(views)).toEqual(await stateOf((await loadViews(journal, OPTIONS)).views))
})

test("JRN-4 an interrupted reading of the past begins again, and what came meanwhile is read after it", async () => {
  const steps = Array.from({ length: 40 }, (_, at): Step => ({ kind: "user", content: `Port ${4000 + at} is used.` }))
  const { journal } = await played([steps, steps])
  const { views } = await loadViews(watched(journal, () => undefined).journal, OPTIONS)
  expect(() => views.names).toThrow("catchUp")
  await expect(views.catchUp({ signal: AbortSignal.abort(new Error("closed")) })).rejects.toThrow("closed")
  const [newest] = await journal.findMany([views.context.newest!.uuid])
  views.apply({ ...newest!, uuid: "later", parentUuid: newest!.uuid } as typeof newest & { uuid: "later" })
  await views.catchUp()
  expect(JSON.stringify(toJson(views.names))).toContain("4007")
  expect(views.hasBacklog).toBe(false)
})
