import { expect, test } from "vitest"
import { editorWith } from "./editor.ts"
import { foundInput, nextMatch, searchFrom, withQuery } from "./history-search.ts"
import { searchLine } from "./menu-rows.ts"

const INPUTS = ["run the tests", "fix it", "Run the build", "run the build", "thanks"]
const start = searchFrom(editorWith("draft"))
const found = (search: typeof start) => foundInput(search, INPUTS).text
const older = (search: typeof start) => nextMatch(search, { inputs: INPUTS, direction: "older" })
const newer = (search: typeof start) => nextMatch(search, { inputs: INPUTS, direction: "newer" })

test("Ctrl-R finds the newest input that contains the query, then older ones", () => {
  expect(found(start)).toBe("draft")
  const build = withQuery(start, "run", INPUTS)
  expect(foundInput(build, INPUTS)).toEqual({ text: "run the build", cursor: 0 })
  const two = older(build)
  expect([found(two), found(older(two)), found(newer(two))]).toEqual([
    "Run the build",
    "run the tests",
    "run the build",
  ])
})

test("a longer query looks on from the match, a shorter one starts over", () => {
  const tests = withQuery(older(older(withQuery(start, "run", INPUTS))), "run the t", INPUTS)
  expect(found(tests)).toBe("run the tests")
  expect(found(withQuery(tests, "run", INPUTS))).toBe("run the build")
  expect(withQuery(tests, "", INPUTS)).toEqual(start)
})

test("the lack of a match is reported, and the last one stays", () => {
  const last = older(withQuery(start, "fix", INPUTS))
  expect(found(last)).toBe("fix it")
  expect(searchLine(last)).toContain("fix: no older match")
  expect(searchLine(withQuery(start, "xyz", INPUTS))).toContain("xyz: no match")
})
