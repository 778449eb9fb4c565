/** Invariant 9: undo(compact(x)) prepares the byte-identical request: nested, after a restart, with later messages kept or dropped. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { CompactionFailedError } from "../../src/base/errors.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { Store } from "../../src/journal/store.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { openCompacting } from "../compacting.ts"
import { type DecidingLayer, decidingLayer } from "../deciding-layer.ts"
import { EDITS_CACHES } from "../open.ts"
import { fuzz } from "../runs.ts"
import { decidedConversations, newPlayer, type Player, play, type Step } from "../steps.ts"
import { summariser } from "../summariser.ts"

const FEW = { ...fuzz, numRuns: Math.ceil(fuzz.numRuns! / 8) } // each reads complete journals several times
const LONG = "many words ".repeat(2_500) // so that a compaction gains enough

interface OpenResult {
  readonly chat: Conversation
  readonly player: Player
  readonly layer: DecidingLayer
}

async function opened(store: Store, player = newPlayer(decidingLayer())): Promise<OpenResult> {
  const layer = player.layer!
  const chat = await openCompacting({ store, earlier: [layer], settings: EDITS_CACHES, summariser: summariser() })
  chat.on("entry", ({ entry }) => entry.type === "strata" && layer.decided(entry.uuid))
  return { chat, player, layer }
}

const ANSWER: Step = {
  kind: "respond",
  pieces: [{ blocks: [{ block: "text", text: "Done." }], answersFirst: false }],
  stop: "end_turn",
  usage: 9_000,
}

async function talk({ chat, player }: OpenResult, steps: readonly Step[]): Promise<void> {
  await play(chat, { kind: "user", content: LONG }, player)
  for (const step of [...steps, ANSWER]) {
    await play(chat, step, player)
    if (step.kind === "decide") await chat.prepare() // carried out before the next request
  }
}

/** The request, truncated so that a failure is readable. */
const sent = async (chat: Conversation) =>
  serialiseRequest(await chat.prepare()).replaceAll(/(many words ){9,}/g, (filling) => `[${filling.length}]`)
const inView = (chat: Conversation) =>
  engineOf(chat)
    .views.context.storedMessages()
    .map(({ uuid }) => uuid)

async function compacts(chat: Conversation): Promise<boolean> {
  try {
    await chat.compact()
    return true
  } catch (error) {
    if (error instanceof CompactionFailedError) return false
    throw error
  }
}

/** The request of a process that opens the conversation now. */
async function sentAfterRestart(store: Store, { chat }: OpenResult): Promise<string> {
  await chat.close()
  const again = await openCompacting({ store, settings: EDITS_CACHES, summariser: summariser() })
  const bytes = await sent(again)
  await again.close()
  return bytes
}

test("invariant 9, BEY-3: undo(compact(x)) prepares the byte-identical request, also after a restart", async () => {
  let compactions = 0
  await fc.assert(
    fc.asyncProperty(decidedConversations, async (steps) => {
      const store = memoryStore()
      const open = await opened(store)
      await talk(open, steps)
      const before = await sent(open.chat)
      const size = engineOf(open.chat).views.context.size()
      if (!(await compacts(open.chat))) return
      compactions++
      await open.chat.undo()
      expect(engineOf(open.chat).views.context.size()).toEqual(size)
      expect(await sent(open.chat)).toBe(before)
      expect(await sentAfterRestart(store, open)).toBe(before)
    }),
    FEW,
  )
  expect(compactions).toBeGreaterThan(FEW.numRuns / 2)
})

test("invariant 9, BEY-3: nested compactions are undone one by one, or all by naming the first, with what came later dropped", async () => {
  await fc.assert(
    fc.asyncProperty(decidedConversations, decidedConversations, fc.boolean(), async (steps, more, byName) => {
      const store = memoryStore()
      const open = await opened(store)
      const { chat } = open
      await talk(open, steps)
      const first = await sent(chat)
      if (!(await compacts(chat))) return
      const boundary = engineOf(chat).views.compactions.last!.boundary
      await talk(
        open,
        more.filter(({ kind }) => kind !== "rewind"),
      )
      const second = await sent(chat)
      if (!(await compacts(chat))) return
      if (byName) await chat.undo({ compaction: boundary, keepLater: false })
      else {
        await chat.undo()
        expect(await sent(chat)).toBe(second)
        await chat.undo({ compaction: boundary, keepLater: false })
      }
      expect(await sent(chat)).toBe(first)
      expect(await sentAfterRestart(store, open)).toBe(first)
    }),
    FEW,
  )
})

test("invariant 9, BEY-3: later messages that are kept follow the old ones, after a restart, a rewind and a later compaction too", async () => {
  await fc.assert(
    fc.asyncProperty(decidedConversations, decidedConversations, fc.nat(), async (steps, more, back) => {
      const store = memoryStore()
      const open = await opened(store)
      const { chat, player } = open
      await talk(open, steps)
      await sent(chat)
      const old = inView(chat)
      if (!(await compacts(chat))) return
      const compacted = new Set(inView(chat))
      const firstLater = player.messages.length
      await talk(
        open,
        more.filter(({ kind }) => kind !== "rewind" && kind !== "decide"),
      )
      await sent(chat)
      const later = inView(chat).filter((uuid) => !compacted.has(uuid))
      await chat.undo()
      expect(inView(chat)).toEqual([...old, ...later])
      const bytes = await sent(chat) // already validated
      const size = engineOf(chat).views.context.size()
      await chat.rewind(engineOf(chat).views.context.newest!.uuid)
      expect(engineOf(chat).views.context.size()).toEqual(size)
      expect(await sent(chat)).toBe(bytes)
      const places = player.messages.slice(firstLater)
      await chat.rewind(places[back % places.length]!)
      expect(inView(chat).slice(0, old.length)).toEqual(old)
      const rewound = await sent(chat)
      if (await compacts(chat)) {
        await chat.undo()
        expect(await sent(chat)).toBe(rewound)
      }
      expect(await sentAfterRestart(store, open)).toBe(rewound)
    }),
    FEW,
  )
})
