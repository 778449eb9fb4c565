/**
 * Limits how many files a reader has to follow: a turn and a compaction run in no more files than today. Lower a limit when fewer are
 * needed.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"

// the current number plus one, because other load on the machine shifts background work
const MAX = { add: 44, prepare: 68, record: 70, compact: 104 }

test("a turn and a compaction run in few files", { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, "files-of-a-turn.ts")])
  const counts = JSON.parse(stdout) as Record<keyof typeof MAX, number>
  for (const [step, max] of Object.entries(MAX)) expect(counts[step as keyof typeof MAX], step).toBeLessThanOrEqual(max)
})
