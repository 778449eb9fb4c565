import fc from "fast-check"
import { expect, test } from "vitest"
import { size } from "../../../core/test/size.ts"
import { findMeasuredNames, nameFinder } from "./measured-names.ts"

test("addresses, versions, hashes, numbers and identifiers are names; words are not", () => {
  const text =
    "Look at cmd/entire/cli/hooks.go, then run sessionId through hook_type (see PR #1556, e9f6de7). " +
    "It is and/or an idea of the user's; the 3rd of 12 costs 10MB. Read https://example.org/a?b=1, v1.2.3 and 50,000 rows on 10.0.0.1."
  expect([...findMeasuredNames(text)]).toEqual([
    "https://example.org/a?b=1",
    "10.0.0.1",
    "v1.2.3",
    "e9f6de7",
    "1556",
    "50,000",
    "sessionId",
    "hook_type",
  ])
})

test("every name of a text is found in it", () => {
  const letters = fc.constantFrom(..."ab1_-./@~,:A é\n(`", "https://", "123", "foo_bar", "x.ts")
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("")
      const has = nameFinder(text)
      for (const name of findMeasuredNames(text)) expect(has(name), name).toBe(true)
    }),
    { numRuns: size(500, 3_000) },
  )
})

test.each([
  ["loadAll", "store.loadAll()", true],
  ["loadAll", "loadAllOf", false],
  ["1,500", "1,500 ms", true],
  ["1.2.3", "11.2.3", false],
  ["https://a.org/x", "see https://a.org/xy", false],
])("%j in %j: %j", (name, text, expected) => {
  expect(nameFinder(text)(name)).toBe(expected)
})
