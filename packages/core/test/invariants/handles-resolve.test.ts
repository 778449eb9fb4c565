/**
 * Every handle in any request resolves: in the lines of cleared, offloaded and folded content, after boundaries, and in names and user
 * messages.
 */
import fc from "fast-check"
import { expect, test } from "vitest"
import { CompactionFailedError, RangeRefusedError } from "../../src/base/errors.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { internalsOf } from "../../src/conversation/internals.ts"
import { toolResultStorage } from "../../src/layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../../src/layers/2-microcompact/microcompaction.ts"
import { offline } from "../../src/layers/4-compaction/summarise/route.ts"
import type { Block } from "../../src/messages/blocks.ts"
import { openCompacting } from "../compacting.ts"
import { fuzz } from "../runs.ts"
import { summariser } from "../summariser.ts"

const HANDLE = /(?<![0-9a-z-])[0-9a-f]{10}(?:\.\d+)*(?![0-9a-z-])/g
const FEW = { ...fuzz, numRuns: Math.ceil(fuzz.numRuns! / 25) } // each plays complete conversations
/** Text without anything that looks like a handle, so that all handles come from Strata. */
const filling = fc.constantFrom("many words ", "ERROR in parseAddress at port 8080\n", "src/app/main.ts changed\n")

type Step =
  | { readonly kind: "task"; readonly text: string; readonly result: string; readonly times: number }
  | { readonly kind: "clear" | "fold" | "snip" | "compact" | "undo" }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("task" as const),
        text: fc.constantFrom("Read it.", "Never touch the port 8080.", "Fix parseAddress, please."),
        result: filling,
        times: fc.integer({ min: 1, max: 3_000 }),
      }),
    },
    fc.record({
      kind: fc.constantFrom("clear" as const, "fold" as const, "snip" as const, "compact" as const, "undo" as const),
    }),
  ),
  { minLength: 4, maxLength: 14 },
)

test("BEY-1 property: every handle in every request resolves, however results were cleared, folded and compacted", async () => {
  let handles = 0
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const chat = await openCompacting({
        summariser: summariser(),
        earlier: [toolResultStorage(), microcompaction()],
        compaction: { offline: offline() },
      })
      const seen = new Set<string>()
      for (const [at, step] of steps.entries()) {
        await play(chat, step, at)
        if (engineOf(chat).views.context.isEmpty) continue
        const { messages, system } = await chat.prepare()
        for (const [handle] of JSON.stringify([messages, system]).matchAll(HANDLE)) {
          if (seen.has(handle)) continue
          seen.add(handle)
          handles++
          expect(await chat.recall(handle), handle).toBeDefined()
        }
      }
      await chat.close()
    }),
    FEW,
  )
  expect(handles).toBeGreaterThan(FEW.numRuns)
})

async function play(chat: Conversation, step: Step, at: number): Promise<void> {
  try {
    if (step.kind === "task") await task(chat, step, at)
    else if (step.kind === "compact") await chat.compact(at % 2 === 0 ? {} : { routes: ["offline"] })
    else if (step.kind === "clear") await chat.clearResults({ downTo: 1 })
    else if (step.kind === "fold") await chat.fold({ downTo: 1 })
    else if (step.kind === "snip") await chat.snip({ from: internalsOf(chat).exchanges()[0]?.from ?? "none" })
    else await chat.undo()
  } catch (error) {
    const isRefusal = error instanceof CompactionFailedError || error instanceof RangeRefusedError
    if (!isRefusal && !/nothing to undo/i.test(String(error))) throw error
  }
}

async function task(chat: Conversation, { text, result, times }: Extract<Step, { kind: "task" }>, at: number) {
  const respond = async (content: readonly Block[], stop_reason: string) => {
    await chat.prepare()
    await chat.record({
      id: `msg_${at}_${stop_reason}`,
      model: "claude-opus-4-6",
      content: content as never,
      stop_reason,
    })
  }
  await chat.add(text)
  await respond([{ type: "tool_use", id: `toolu_${at}`, name: "Read", input: { file_path: "a.ts" } }], "tool_use")
  const content = result.repeat(times)
  await chat.add([{ role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${at}`, content }] }])
  await respond([{ type: "text", text: "Done." }], "end_turn")
}
