/**
 * Compacting, undoing, folding, snipping, opening, clearing, rewinding, branching and restarting in any order: nothing breaks or is lost.
 */
import fc from "fast-check"
import { expect, test } from "vitest"
import { seededIds } from "../../src/base/clock.ts"
import {
  CompactionFailedError,
  EmptyConversationError,
  NothingToUndoError,
  RangeRefusedError,
} from "../../src/base/errors.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { Store } from "../../src/journal/store.ts"
import { toBlocks } from "../../src/messages/blocks.ts"
import { stringifyExact } from "../../src/messages/exact-json.ts"
import { handleOf } from "../../src/messages/media.ts"
import type { Message } from "../../src/messages/messages.ts"
import { validateRequest } from "../../src/messages/validate/validator.ts"
import { findModel } from "../../src/tokens/models.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { openCompacting } from "../compacting.ts"
import { EDITS_CACHES } from "../open.ts"
import { fuzz } from "../runs.ts"
import { conversations, newPlayer, type Player, play, type Step } from "../steps.ts"
import { SUMMARISER, summariser } from "../summariser.ts"

type Change =
  | { readonly kind: "talk"; readonly steps: readonly Step[] }
  | { readonly kind: "fold" | "snip"; readonly from: number; readonly to: number }
  | { readonly kind: "open"; readonly which: number }
  | { readonly kind: "undo"; readonly which: number; readonly keepLater: boolean; readonly isNewest: boolean }
  | { readonly kind: "rewind" | "branch"; readonly to: number }
  | { readonly kind: "compact" | "clear" | "prune" | "images" }

const FEW = { ...fuzz, numRuns: Math.ceil(fuzz.numRuns! / 50) } // each opens several conversations
const LONG = "many words ".repeat(2_500) // so that a compaction gains enough

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: conversations.map((steps): Change => ({ kind: "talk", steps: steps.slice(0, 8) })),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("fold" as const, "snip" as const), from: fc.nat(60), to: fc.nat(60) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("open" as const), which: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("undo" as const),
      which: fc.nat(9),
      keepLater: fc.boolean(),
      isNewest: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("rewind" as const, "branch" as const), to: fc.nat(90) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("compact", "compact", "clear", "prune", "images"),
    }) as fc.Arbitrary<Change>,
  },
)

let opened = 0

/** Uses new ids: a process never reuses those of another one. */
const open = (store: Store, id: string) =>
  openCompacting({ store, id, ids: seededIds(`${opened++}`), settings: EDITS_CACHES, summariser: summariser() })

/** Errors of actions that are impossible in the current state. */
const EXPECTED = [CompactionFailedError, NothingToUndoError, RangeRefusedError, EmptyConversationError]

async function refusable(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!EXPECTED.some((kind) => error instanceof kind)) throw error
  }
}

async function request(chat: Conversation): Promise<string | undefined> {
  try {
    const prepared = await chat.prepare()
    expect(validateRequest({ request: prepared, model: findModel(SUMMARISER).facts })).toEqual([])
    return serialiseRequest(prepared).replaceAll(/(many words ){9,}/g, (filling) => `[${filling.length}]`)
  } catch (error) {
    if (error instanceof EmptyConversationError) return undefined
    throw error
  }
}

interface State {
  readonly store: Store
  readonly player: Player
  chat: Conversation
}

const isMessage = ({ type }: Message) => type === "user" || type === "assistant"

async function carryOut(state: State, change: Change): Promise<void> {
  const { chat, player, store } = state
  const inView = engineOf(chat).views.context.storedMessages()
  const at = (number: number) => inView[number % Math.max(1, inView.length)]?.uuid ?? "none"
  switch (change.kind) {
    case "talk":
      await play(chat, { kind: "user", content: LONG }, player)
      for (const step of change.steps) if (step.kind !== "prepare") await play(chat, step, player)
      return
    case "fold":
    case "snip":
      return refusable(chat[change.kind]({ from: at(change.from), to: at(change.to) }))
    case "open": {
      const { hiddenRanges } = engineOf(chat).views.context
      const range = hiddenRanges[change.which % Math.max(1, hiddenRanges.length)]
      return refusable(chat.unfold(range ? handleOf(range.messages[0]!.uuid) : "none"))
    }
    case "undo": {
      const { list } = engineOf(chat).views.undoable
      const { keepLater } = change
      const decision = list[change.which % Math.max(1, list.length)]?.uuid
      return refusable(chat.undo(change.isNewest || decision === undefined ? { keepLater } : { keepLater, decision }))
    }
    case "rewind":
      if (player.messages.length > 0) await chat.rewind(player.messages[change.to % player.messages.length]!)
      return
    case "branch": {
      const { rawMessages } = engineOf(chat).views.context // without the lines of folds, which are not messages
      if (rawMessages.length === 0) return
      const copy = await chat.branch(rawMessages[change.to % rawMessages.length]!.uuid)
      await chat.close()
      state.chat = await open(store, copy)
      const messages = engineOf(state.chat).views.context.storedMessages().filter(isMessage)
      player.messages.splice(0, Number.POSITIVE_INFINITY, ...messages.map(({ uuid }) => uuid))
      return
    }
    case "compact":
      return refusable(chat.compact())
    case "clear":
      await chat.clearResults({ downTo: 0 })
      return
    case "prune":
      await chat.clearResults({ prune: true })
      return
    case "images":
      await chat.clearResults({ images: true })
  }
}

test("BEY-1, BEY-3, BEY-13, L2-13, L4-38 property: manual changes in any order keep every request valid, stable and complete", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, fc.array(change, { minLength: 3, maxLength: 14 }), async (steps, changes) => {
      const store = memoryStore()
      const state: State = { store, player: newPlayer(), chat: await open(store, "test") }
      await carryOut(state, { kind: "talk", steps: steps.slice(0, 10) })
      for (const change of changes) {
        await carryOut(state, change)
        const bytes = await request(state.chat)
        await state.chat.close()
        state.chat = await open(store, state.chat.id)
        expect(await request(state.chat), change.kind).toBe(bytes)
      }
      for await (const entry of state.chat.entries())
        if (entry.type === "user" || entry.type === "assistant")
          for (const [block, content] of toBlocks(entry.message.content).entries())
            expect(stringifyExact(await state.chat.recall(handleOf(entry.uuid, block)))).toBe(stringifyExact(content))
      await state.chat.close()
    }),
    FEW,
  )
})
