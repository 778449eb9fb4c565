import { expect, test } from "vitest"
import { everyNth } from "../../../core/test/size.ts"
import { measurePlanted, plantedReport } from "./measure.ts"

test.each(everyNth(["balanced", "off"] as const, 2))(
  "BEY-1, BEY-2 after a compaction every planted fact is in view or one search away: planner %s",
  async (planner) => {
    const figures = await measurePlanted({ planner, after: [1] })
    const [{ facts, handles, long }] = figures.looked as [(typeof figures.looked)[number]]
    expect(facts).toHaveLength(91)
    expect(facts.filter(({ reach }) => reach === "lost").map(({ fact }) => fact)).toEqual([])
    expect(facts.filter(({ isFound }) => !isFound).map(({ fact }) => fact)).toEqual([])
    expect(handles).toBe(long)
    expect(plantedReport(figures)).toContain("one search away")
  },
)
