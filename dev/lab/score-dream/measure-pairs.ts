/** Two statements of the user on two days, each stored as a memory in a bank on disk. Measures what became of the earlier one. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { manualClock } from "../../../packages/core/src/base/clock.ts"
import { fileStore } from "../../../packages/core/src/journal/file/file-store.ts"
import { openBank } from "../../../packages/core/src/memory/bank.ts"
import type { Pair } from "./pairs.ts"

export interface PairScores {
  readonly retired: readonly Pair[]
  /** Pairs whose earlier memory is in view with a note that a later one may contradict it. */
  readonly inDoubt: readonly Pair[]
  readonly untouched: readonly Pair[]
}

const DAY_MS = 86_400_000

export async function measurePairs(pairs: readonly Pair[]): Promise<PairScores> {
  const root = await mkdtemp(join(tmpdir(), "dream-marks-"))
  const scores = { retired: [] as Pair[], inDoubt: [] as Pair[], untouched: [] as Pair[] }
  try {
    for (const [at, pair] of pairs.entries()) {
      const clock = manualClock("2026-05-01T12:00:00.000Z")
      const bank = openBank({ files: fileStore({ root, clock }).memories({ project: `pair-${at}` }), clock })
      const keep = (file: string, body: string) => {
        const source = { saidBy: "user", conversation: file, message: file } as const
        return bank.change({
          by: "extraction",
          why: "Learned",
          puts: [{ file, name: body, body, type: "user", source }],
        })
      }
      await keep("earlier.md", pair.earlier)
      clock.advance(DAY_MS)
      await keep("later.md", pair.later)
      const { supersededBy, doubtedBy } = (await bank.get("earlier.md"))!
      scores[supersededBy !== undefined ? "retired" : doubtedBy !== undefined ? "inDoubt" : "untouched"].push(pair)
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
  return scores
}
