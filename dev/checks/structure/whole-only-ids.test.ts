import { expect, test } from "vitest"
import { wholeOnlyProblems } from "./whole-only-ids.ts"

const listed = new Set(["TOK-1", "TOK-2"])
const problems = (sources: Readonly<Record<string, string>>, allowed: Readonly<Record<string, string>> = {}) =>
  wholeOnlyProblems(Object.keys(sources), { read: (file) => sources[file]!, listed, allowed })

const lost = {
  "a.test.ts": 'test("TOK-1 fits", fits) // TOK-2 is in a.whole.test.ts',
  "a.whole.test.ts": "test(`TOK-2 fits, $" + "{size}`, fits); test('TOK-1 fits at every size, as UTF-8', fits)",
}

test("an id in the titles of whole tests alone is a problem; a comment in a quick test does not help", () => {
  expect(problems(lost)).toEqual(["only tests of npm run test:all name TOK-2: npm test no longer proves it"])
  expect(problems({ ...lost, "b.test.tsx": 'test("TOK-2: fits", fits)' })).toEqual([])
})

test("an id may be on the list, with a reason, as long as it needs to be", () => {
  expect(problems(lost, { "TOK-2": "takes minutes" })).toEqual([])
  expect(problems(lost, { "TOK-1": "no reason", "TOK-2": "takes minutes" })).toEqual([
    "dev/checks/structure/whole-only-ids.ts lists TOK-1, which it need not",
  ])
})

test("a test that is marked as whole is not a quick one; the tests next to it are", () => {
  const marked = (title: string) => `test.runIf(isWhole)(${title}, fits)\ntest("TOK-1 fits", fits)`
  for (const title of ['"TOK-2 fits"', "`TOK-2 fits`", '\n  "TOK-2 fits"'])
    expect(problems({ "a.test.ts": marked(title) })).toHaveLength(1)
})
