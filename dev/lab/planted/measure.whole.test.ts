import { expect, test } from "vitest"
import { everyNth } from "../../../packages/core/test/size.ts"
import { measurePlanted, plantedReport } from "./measure.ts"

test.each([...everyNth(["loop balanced", "loop off"] as const, 2), "follow balanced"] as const)(
  "BEY-1, BEY-2, BEY-14 after a compaction every planted fact is in view or one search away: %s",
  async (how) => {
    const [through, planner] = how.split(" ") as ["loop" | "follow", "balanced" | "off"]
    const figures = await measurePlanted({ planner, through, after: [1] })
    const [{ facts, handles }] = figures.looked as [(typeof figures.looked)[number]]
    expect(facts).toHaveLength(91)
    expect(facts.filter(({ reach }) => reach === "lost").map(({ fact }) => fact)).toEqual([])
    expect(facts.filter(({ isFound }) => !isFound).map(({ fact }) => fact)).toEqual([])
    // the summary lists only a few: how many depends on the length of the journal's path. Search finds all of them, as checked above
    expect(handles).toBeGreaterThan(0)
    expect(plantedReport(figures)).toContain("one search away")
  },
)
