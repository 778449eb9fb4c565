/** Invariant 5: a compaction shrinks the context by at least a tenth or is refused; no two are consecutive without new content. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { openCompacting } from "../compacting.ts"
import { CompactionWitness } from "../compaction-witness.ts"
import { largeConversations, playLarge } from "../large-steps.ts"
import { fuzz } from "../runs.ts"
import { size } from "../size.ts"
import { newPlayer } from "../steps.ts"
import { summariser } from "../summariser.ts"

const RUNS = { ...fuzz, numRuns: Math.max(size(2, 5), Math.ceil(fuzz.numRuns! / 10)) } // these conversations are large

test("invariant 5, L4-27: a compaction shrinks the context by a tenth or is refused, and none follows another without new content", async () => {
  let compactions = 0
  await fc.assert(
    fc.asyncProperty(largeConversations, async (conversation) => {
      const { window, faults } = conversation
      const chat = await openCompacting({ window, summariser: summariser({ window, faults }) })
      const witness = new CompactionWitness(chat)
      const player = newPlayer()
      for (const [at, step] of [...conversation.steps, { kind: "prepare" } as const].entries())
        await playLarge(chat, step, { player, conversation, at })
      expect(witness.violations).toEqual([])
      compactions += witness.compactions
    }),
    RUNS,
  )
  // summaries that were cut to nothing are refused, so a few cases may have no compaction
  if (RUNS.numRuns >= 10) expect(compactions).toBeGreaterThan(RUNS.numRuns / 4)
})
