import { expect, test } from "vitest"
import { sample } from "./score-audit/conversations.ts"
import { INVENTION_KINDS } from "./score-audit/inventions.ts"
import { emptyTally, inventAll, SeedRange } from "./score-audit/measure.ts"
import { UNREADABLE_KINDS, withUnreadable } from "./score-audit/unreadable.ts"

test.each(UNREADABLE_KINDS)(
  "BEY-2 %s in the range: every kind of invented fact is found, and no truth is an alarm",
  (kind) => {
    const tally = emptyTally()
    for (let seed = 1; seed <= 2; seed++) {
      const { messages, summary } = sample(seed)
      const range = new SeedRange(withUnreadable(messages, kind))
      const { claims, unchecked } = range.audit(summary)
      expect(claims.filter(({ isSupported }) => !isSupported)).toEqual([])
      expect(unchecked).toEqual([])
      inventAll(range, { summary, from: seed * 100, count: INVENTION_KINDS.length, tally })
    }
    expect([...tally.planted.keys()]).toEqual(INVENTION_KINDS)
    expect(tally.missed).toEqual([])
  },
)
