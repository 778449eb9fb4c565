import { expect, test } from "vitest"
import { compareBills } from "./try-client.ts"

test("BEY-8 bills are compared step by step, to a tenth of a cent: a difference of 6% in one step is seen", () => {
  const resume = { what: "a resume", client: 0.05, simulator: 0.0504 }
  expect(compareBills([resume])).toMatchObject({ works: true, result: "equal: client $0.0500, simulator $0.0504" })
  const apart = { what: "a fork", client: 0.032, simulator: 0.034 }
  const otherWay = { what: "/compact", client: 0.034, simulator: 0.032 }
  expect(compareBills([resume, apart, otherWay])).toMatchObject({
    works: false,
    result: "differ: a fork: client $0.0320, simulator $0.0340; /compact: client $0.0340, simulator $0.0320",
  })
  expect(compareBills([{ what: "no bill", client: Number.NaN, simulator: 0.1 }]).works).toBe(false)
})
