import { expect, test } from "vitest"
import { sample } from "./audit-marks/conversations.ts"
import { INVENTION_KINDS } from "./audit-marks/inventions.ts"
import { emptyTally, inventAll, Range } from "./audit-marks/measure.ts"
import { UNREADABLE_KINDS, withUnreadable } from "./audit-marks/unreadable.ts"

test.each(UNREADABLE_KINDS)(
  "BEY-2 %s in the range: every kind of invented fact is found, and no truth is an alarm",
  (kind) => {
    const tally = emptyTally()
    for (let seed = 1; seed <= 2; seed++) {
      const { messages, summary } = sample(seed)
      const range = new Range(withUnreadable(messages, kind))
      const { claims, unchecked } = range.audit(summary)
      expect(claims.filter(({ isSupported }) => !isSupported)).toEqual([])
      expect(unchecked).toEqual([])
      inventAll(range, { summary, from: seed * 100, count: INVENTION_KINDS.length, tally })
    }
    expect([...tally.planted.keys()]).toEqual(INVENTION_KINDS)
    expect(tally.missed).toEqual([])
  },
)
