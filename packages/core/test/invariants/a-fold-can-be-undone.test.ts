/**
 * Folded and snipped ranges: every request is valid, calls keep their results, nothing is lost, and opening a range restores the old bytes.
 */
import fc from "fast-check"
import { expect, test } from "vitest"
import { EmptyConversationError, RangeRefusedError } from "../../src/base/errors.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { RangePlan } from "../../src/layers/fold/plan.ts"
import { isToolResult, isToolUse, toBlocks } from "../../src/messages/blocks.ts"
import { stringifyExact } from "../../src/messages/exact-json.ts"
import { handleOf } from "../../src/messages/media.ts"
import type { ModelRequest } from "../../src/messages/request.ts"
import { validateRequest } from "../../src/messages/validate/validator.ts"
import { findModel } from "../../src/tokens/models.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { openTestConversation } from "../open.ts"
import { fuzz } from "../runs.ts"
import { conversations, newPlayer, play } from "../steps.ts"

interface Cut {
  readonly action: "fold" | "snip"
  readonly from: number
  readonly to: number
}

const cuts = fc.array(
  fc.record({ action: fc.constantFrom("fold" as const, "snip" as const), from: fc.nat(30), to: fc.nat(30) }),
  { minLength: 1, maxLength: 3 },
)
/** Only the second model binds thinking to the preceding content. */
const models = fc.constantFrom("claude-opus-4-6", "claude-fable-5-1")

test("BEY-13 property: after folds and snips every request is valid, calls keep their results, and every block is recalled", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, cuts, models, async (steps, cuts, model) => {
      const chat = await played(steps, model)
      const before = await prepared(chat)
      if (!before) return
      const added = new Map<string, readonly string[]>()
      for await (const entry of chat.entries())
        if (entry.type === "user" || entry.type === "assistant")
          added.set(entry.uuid, toBlocks(entry.message.content).map(stringifyExact))
      const results = resultsIn(before)
      for (const cut of cuts) {
        const ranges = await carryOut(chat, cut)
        const request = await prepared(chat)
        if (!ranges || !request) continue
        expect(validateRequest({ request, model: findModel(model).facts })).toEqual([])
        for (const [id, content] of resultsIn(request)) expect(content).toBe(results.get(id))
        for (const { uuid } of engineOf(chat).views.context.hiddenRanges.flatMap(({ messages }) => messages))
          for (const [at, block] of (added.get(uuid) ?? []).entries())
            expect(stringifyExact(await chat.recall(handleOf(uuid, at)))).toBe(block)
      }
    }),
    fuzz,
  )
})

test("BEY-13 property: the dry run says what then happens, and opening the ranges again gives the byte-identical request", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, cuts, models, async (steps, cuts, model) => {
      const chat = await played(steps, model)
      if (!(await prepared(chat))) return
      // the current request: preparing one may add a message
      const bytesNow = async () => serialiseRequest(await engineOf(chat).preparer.forkRequest())
      const done: { readonly bytes: string; readonly size: number; readonly decision: string }[] = []
      for (const cut of cuts) {
        const before = { bytes: await bytesNow(), size: engineOf(chat).views.context.size().tokens }
        const decision = await carryOut(chat, cut)
        if (decision) done.push({ ...before, decision })
      }
      for (const { bytes, size, decision } of done.toReversed()) {
        const expected = await chat.unfold(decision, { dryRun: true })
        await chat.unfold(decision)
        expect(engineOf(chat).views.context.size().tokens).toBe(expected.tokensAfter)
        expect(expected.tokensAfter).toBe(size)
        expect(await bytesNow()).toBe(bytes)
      }
    }),
    fuzz,
  )
})

test("BEY-13 property: a conversation with folded and snipped ranges prepares the same bytes after a restart and in a branch", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, cuts, models, async (steps, cuts, model) => {
      const store = memoryStore()
      const chat = await played(steps, model, store)
      for (const cut of cuts) await carryOut(chat, cut)
      const before = await prepared(chat)
      if (!before) return
      const copy = await chat.branch(engineOf(chat).views.context.newest!.uuid)
      await chat.close()
      for (const id of ["test", copy]) {
        const opened = await openTestConversation({ store, model, id })
        expect(serialiseRequest((await prepared(opened))!)).toBe(serialiseRequest(before))
        await opened.close()
      }
    }),
    fuzz,
  )
})

async function played(steps: readonly Parameters<typeof play>[1][], model: string, store = memoryStore()) {
  const chat = await openTestConversation({ store, model })
  const player = newPlayer()
  for (const step of steps) if (step.kind !== "rewind") await play(chat, step, player)
  return chat
}

/** The uuid of the decision, or `undefined` if the range cannot be hidden. */
async function carryOut(chat: Conversation, { action, from, to }: Cut): Promise<string | undefined> {
  const messages = engineOf(chat).views.context.storedMessages()
  const at = (number: number) => messages[number % messages.length]!.uuid
  const range = { from: at(from), to: at(to) }
  let planned: RangePlan
  try {
    planned = await chat[action]({ ...range, dryRun: true })
  } catch (error) {
    if (error instanceof RangeRefusedError) return undefined
    throw error
  }
  expect(await chat[action](range)).toEqual(planned)
  expect(engineOf(chat).views.context.size().tokens).toBe(planned.tokensAfter)
  return engineOf(chat).views.context.hiddenRanges.find(({ decision }) => decision.from === planned.ranges[0]!.from)!
    .decision.uuid
}

async function prepared(chat: Conversation): Promise<ModelRequest | undefined> {
  try {
    return await chat.prepare()
  } catch (error) {
    if (error instanceof EmptyConversationError) return undefined
    throw error
  }
}

/** The bytes of the result of every call in a request. */
function resultsIn(request: ModelRequest): ReadonlyMap<string, string> {
  const blocks = request.messages.flatMap(({ content }) => toBlocks(content))
  const calls = new Set(blocks.filter(isToolUse).map(({ id }) => id))
  const results = new Map(blocks.filter(isToolResult).map((block) => [block.tool_use_id, stringifyExact(block)]))
  expect([...calls].toSorted()).toEqual([...results.keys()].toSorted())
  return results
}
