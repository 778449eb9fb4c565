/**
 * Properties of compactions of any conversation, size and summary result. Random conversations are compacted repeatedly, by notes and by a
 * model that fails in every way.
 */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { seededIds } from "../../../src/base/clock.ts"
import { ContextFullError } from "../../../src/base/errors.ts"
import { type Conversation, engineOf } from "../../../src/conversation/conversation.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import type { Store } from "../../../src/journal/store.ts"
import type { Layer } from "../../../src/layers/layer.ts"
import { toBlocks } from "../../../src/messages/blocks.ts"
import { stringifyExact } from "../../../src/messages/exact-json.ts"
import { validateRequest } from "../../../src/messages/validate/validator.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { openCompacting } from "../../compacting.ts"
import { CompactionWitness } from "../../compaction-witness.ts"
import { fixedNotes } from "../../fixed-notes.ts"
import { type LargeConversation, largeConversations, playLarge, sizeOf } from "../../large-steps.ts"
import { fuzz, isFuzzing } from "../../runs.ts"
import { size } from "../../size.ts"
import { newPlayer } from "../../steps.ts"
import { type Summariser, summariser } from "../../summariser.ts"

const RUNS = { ...fuzz, numRuns: Math.max(size(4, 50), Math.ceil(fuzz.numRuns! / 10)) } // large conversations
// of these few, some compact, some fail to, and some do not fit
const MAX_VARIED = isFuzzing ? RUNS : size({ numRuns: 4, seed: 12 }, { numRuns: 12, seed: 7 })
const MAX_ASKED = 60 // per request: three routes, a few parts, each part a few times
const CLOSING = "]}]}" // end of the last block, message and list: everything before it must be sent again
const ESTIMATE_ERROR = 1.25 // maximum error of an estimator without calibration

interface OpenResult {
  readonly chat: Conversation
  readonly model: Summariser
  /** Closes and reopens the conversation. */
  again(): Promise<Conversation>
}

async function open(conversation: LargeConversation, store: Store = memoryStore()): Promise<OpenResult> {
  const { window, faults, notes } = conversation
  const model = summariser({ window, faults })
  const ids = seededIds("test")
  const openOnce = () =>
    openCompacting({
      ...{ window, store, ids, summariser: model },
      earlier: [notesAt(notes)],
      compaction: {
        notes: fixedNotes(() => (notes === undefined ? undefined : "# State\nGoing on.")),
      },
    })
  const chat = await openOnce()
  const opened = { chat, model }
  return {
    ...opened,
    async again() {
      await opened.chat.close()
      opened.chat = await openOnce()
      return opened.chat
    },
  }
}

/** Notes that cover everything up to the nth message from the end. They are renewed before every request. */
function notesAt(back: number | undefined): Layer {
  return {
    name: "notes",
    async beforeRequest({ views }) {
      const message = back === undefined ? undefined : views.context.storedMessages().at(-1 - back)
      if (!message || message.uuid === views.notes.throughUuid) return undefined
      const taken = { throughUuid: message.uuid, path: "notes.md", tokens: 10, contextTokens: 10 }
      return { drafts: [{ type: "strata", subtype: "notes-updated", ...taken }] }
    },
  }
}

const steps = ({ steps }: LargeConversation) => [...steps, { kind: "prepare" } as const].entries()

describe("any conversation, compacted by any route", () => {
  test("invariant 1, L4-1, L4-7, L4-15, L4-27 a request is valid and under the limit, or the error says what to do; it always ends", async () => {
    const totals = { compactions: 0, full: 0 }
    await fc.assert(
      fc.asyncProperty(largeConversations, async (conversation) => {
        const { chat, model } = await open(conversation)
        const witness = new CompactionWitness(chat)
        const player = newPlayer()
        const { facts } = findModel("claude-opus-4-6", { "claude-opus-4-6": { window: conversation.window } })
        for (const [at, step] of steps(conversation)) {
          const asked = model.asked()
          const request = await playLarge(chat, step, { player, conversation, at })
          expect(model.asked() - asked).toBeLessThan(MAX_ASKED)
          if (request instanceof ContextFullError) {
            totals.full++
            expect(request.message).toMatch(/compact|larger window|earlier message/i)
          } else if (request) {
            const inputTokens = engineOf(chat).views.context.size().tokens
            expect(validateRequest({ request, model: facts, inputTokens })).toEqual([])
            expect(sizeOf(request)).toBeLessThan(chat.thresholds.effective * ESTIMATE_ERROR)
          }
        }
        expect(witness.violations).toEqual([])
        totals.compactions += witness.compactions
      }),
      MAX_VARIED,
    )
    expect(totals.compactions).toBeGreaterThan(MAX_VARIED.numRuns / 2)
    expect(totals.full).toBeGreaterThan(0)
  })

  test("invariants 2 and 3 without a decision a request continues the previous one, and a resume changes no byte", async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(
        largeConversations,
        fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
        async (conversation, interruptions) => {
          const [live, resumed] = [await open(conversation), await open(conversation)]
          const [livePlayer, resumedPlayer] = [newPlayer(), newPlayer()]
          let reopened = resumed.chat
          let [last, decided] = ["", true]
          live.chat.on("entry", ({ entry }) => {
            if (entry.type === "strata") decided = true
          })
          for (const [at, step] of steps(conversation)) {
            if (interruptions[at % interruptions.length]) reopened = await resumed.again()
            const one = await playLarge(live.chat, step, { player: livePlayer, conversation, at })
            const other = await playLarge(reopened, step, { player: resumedPlayer, conversation, at })
            if (!one || one instanceof ContextFullError) {
              expect(other?.constructor).toBe(one?.constructor)
              continue
            }
            const body = serialiseRequest(one)
            expect(other && !(other instanceof ContextFullError) && serialiseRequest(other)).toBe(body)
            if (!decided) expect(body.startsWith(last.slice(0, -CLOSING.length))).toBe(true)
            compared += decided ? 0 : 1
            last = body
            decided = false
          }
        },
      ),
      { ...RUNS, numRuns: Math.ceil(RUNS.numRuns / 3) },
    )
    expect(compared).toBeGreaterThan(RUNS.numRuns / 3)
  })

  test("invariant 4 every block ever added is retrievable byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(largeConversations, async (conversation) => {
        const { chat } = await open(conversation)
        const added = new Map<string, string>()
        chat.on("entry", ({ entry }) => {
          if (entry.type !== "user" && entry.type !== "assistant") return
          toBlocks(entry.message.content).forEach((block, at) => {
            added.set(`${entry.uuid}.${at}`, stringifyExact(block))
          })
        })
        const player = newPlayer()
        for (const [at, step] of steps(conversation)) await playLarge(chat, step, { player, conversation, at })
        for (const [address, bytes] of added)
          expect(stringifyExact(await chat.recall(address)) === bytes, address).toBe(true)
      }),
      { ...RUNS, numRuns: Math.ceil(RUNS.numRuns / 5) },
    )
  })
})
