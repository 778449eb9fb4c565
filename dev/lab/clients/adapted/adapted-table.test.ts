import { expect, test } from "vitest"
import type { AdaptedRun } from "./run-case.ts"
import { type AdaptedResult, adaptedDefects, adaptedTable } from "./try-adapted.ts"

const OUTCOME: AdaptedRun = {
  ...{ requests: 66, refused: [], answers: ["ANSWER[t1, port 4711]"], faults: [] },
  ...{ dollars: 10, compactions: 0, recalls: 0 },
}
const row = (strata: Partial<AdaptedRun>, direct: Partial<AdaptedRun> = {}): AdaptedResult => ({
  ...{ framework: "LangChain", versions: "langchain 1.5.9", what: "three windows", compactions: 2, goal: 0.25 },
  direct: { ...OUTCOME, ...direct },
  strata: { ...OUTCOME, dollars: 1, compactions: 3, ...strata },
})

test("BEY-11 the comparison names refusals, other answers, a higher cost, missing compactions, and what a program found", () => {
  expect(adaptedDefects(row({}))).toEqual([])
  expect(adaptedDefects(row({ refused: ["too long"] }))).toEqual(["refused: too long"])
  expect(adaptedDefects(row({ answers: ["ANSWER[t1, port unknown]"] }))).toEqual([
    "the answers differ: ANSWER[t1, port 4711], with Strata ANSWER[t1, port unknown]",
  ])
  expect(adaptedDefects(row({ answers: [] }, { answers: [] }))).toEqual(["no answer without Strata"])
  expect(adaptedDefects(row({ dollars: 3 }))).toEqual(["costs 0.30, more than 0.25"])
  expect(adaptedDefects(row({ compactions: 1 }))).toEqual(["1 compactions, not 2"])
  expect(adaptedDefects(row({ faults: ["FAULT: the stream shows Recall"] }))).toEqual([
    "FAULT: the stream shows Recall",
  ])
  expect(adaptedTable([row({})])).toMatch(
    /^LangChain +langchain 1\.5\.9 +three windows +66\/66 +0\/0 +1 equal +\$10\.00 +0\.10 +3 +0 +works$/m,
  )
})
