/**
 * Invariants 1, 3 and 9 over entire histories: after any clearing, folding, snipping, undoing, compacting, rewinding, refusing, reopening
 * and killing, the next request is prepared, is valid, and has the bytes that another process would send.
 */
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { validateRequest } from "../../src/messages/validate/validator.ts"
import { findModel } from "../../src/tokens/models.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { temporaryRoot } from "../journal-files.ts"
import { fuzz } from "../runs.ts"
import { comparable, History, MODEL, tryPrepare } from "./history.ts"
import { histories, type Step } from "./history-steps.ts"

const FEW = { ...fuzz, numRuns: Math.ceil(fuzz.numRuns! / 8) } // each opens many conversations

async function request(chat: Conversation): Promise<string | undefined> {
  const next = await tryPrepare(chat)
  if (!next) return undefined
  expect(validateRequest({ request: next, model: findModel(MODEL).facts })).toEqual([])
  return comparable(serialiseRequest(next))
}

async function lives(history: History, step: Step): Promise<void> {
  const before = step.kind === "compact" && step.thenUndo ? await request(history.chat) : undefined
  const boundary = engineOf(history.chat).views.compactions.last?.boundary
  await history.take(step)
  const compacted = engineOf(history.chat).views.compactions.last?.boundary
  if (before !== undefined && compacted !== boundary) {
    await history.chat.undo()
    expect(await request(history.chat), "undo(compact(x))").toBe(before)
  }
}

test.each([
  { name: "changed by hand", memory: false, autoCompactTokens: 150_000 },
  { name: "compacted early", memory: false, autoCompactTokens: 9_000 },
  { name: "with memory", memory: true, autoCompactTokens: 12_000 },
])(
  "invariant 3, invariant 9, JRN-2, BEY-3 property: no history leaves a conversation stuck, and live equals reopened: $name",
  async (options) => {
    const { root, remove } = await temporaryRoot()
    let run = 0
    try {
      await fc.assert(
        fc.asyncProperty(histories, async (steps) => {
          const history = new History(join(root, `${run++}`), options)
          await history.start()
          try {
            for (const { step, isChecked } of steps) {
              await lives(history, step)
              if (!isChecked) continue
              const elsewhere = await history.elsewhere(request)
              expect(await request(history.chat), step.kind).toBe(elsewhere)
            }
          } finally {
            await history.remove()
          }
        }),
        FEW,
      )
    } finally {
      await remove()
    }
  },
)
