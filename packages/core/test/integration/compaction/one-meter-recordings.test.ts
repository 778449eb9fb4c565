/** Sizes on recorded work: the planned size is the size after the compaction, and its parts add up. */
import { describe, expect, test } from "vitest"
import { writeImported } from "../../../../transcripts/src/import/into-journal.ts"
import { manualClock, projectName } from "../../../src/base/clock.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { openCompacting } from "../../compacting.ts"
import { needs } from "../../needs.ts"
import { CLAUDE_CODE_FILES, CODEX_FILES, importReal, OPENHANDS_FILES, PI_FILES } from "../../real-transcripts.ts"
import { everyNth } from "../../size.ts"
import { SUMMARISER, summariser } from "../../summariser.ts"

const MAX_OFF = 0.03
const WINDOW = 1_000_000
const CWD = "/recorded"
const FILES = everyNth([...CLAUDE_CODE_FILES, ...CODEX_FILES, ...PI_FILES, ...OPENHANDS_FILES], 4, 3)

describe("TOK-9, L4-34 on recordings, plan and outcome differ by at most 3%", needs("transcripts"), () => {
  test.each(FILES)("%s", async (name) => {
    for (const [at, imported] of importReal(name).slice(0, 2).entries()) {
      const store = memoryStore()
      const id = `recording-${at}`
      await writeImported(imported, { store, project: projectName(CWD), clock: manualClock(), source: name, id })
      const chat = await openCompacting({
        ...{ store, id, cwd: CWD, window: WINDOW, summariser: summariser({ window: WINDOW }) },
        settings: { models: { [SUMMARISER]: { window: WINDOW } } },
      })
      const plan = await chat.planCompaction({}, { withSummary: true })
      if (plan.kind === "refused") continue // too short to gain anything
      const { fixed, summarised, kept, added, summary, tokensBefore, expectedAfter } = plan
      const parts = [fixed, summarised.tokens, kept.tokens, added, summary.tokens]
      expect(parts.filter((part) => part < 0)).toEqual([])
      expect(fixed + summarised.tokens + kept.tokens).toBe(tokensBefore)
      expect(fixed + summary.tokens + (kept.shortenedTo ?? kept.tokens) + added).toBe(expectedAfter)
      await chat.compact({ written: plan.written! })
      const after = chat.windowUsage().used
      expect(Math.abs(after - expectedAfter) / expectedAfter).toBeLessThan(MAX_OFF)
      await chat.close()
    }
  })
})
