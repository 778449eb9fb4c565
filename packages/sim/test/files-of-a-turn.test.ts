/** How far a reader has to go: a turn and a compaction run in no more files than today. Lower a limit where fewer are enough. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const MAX = { add: 45, prepare: 70, record: 72, compact: 105 } // today and one more, because what else the machine does shifts background work

test("a turn and a compaction run in few files", { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, "files-of-a-turn.ts")])
  const counts = JSON.parse(stdout) as Record<keyof typeof MAX, number>
  for (const [step, max] of Object.entries(MAX)) expect(counts[step as keyof typeof MAX], step).toBeLessThanOrEqual(max)
})
