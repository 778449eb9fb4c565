import { expect, test } from "vitest"
import { type ComparedRuns, proxiedDefects } from "./compare.ts"
import type { ProxiedRun } from "./run-case.ts"
import { comparedTable } from "./try-proxied.ts"

const OUTCOME: ProxiedRun = {
  ...{ requests: 50, refused: [], answers: ["ANSWER[8 parts, port 4711]"], dollars: 2 },
  ...{ compactions: { client: 0, ours: 0 }, conversations: 1, problems: [] },
}
const row = (proxy: Partial<ProxiedRun>, observe = OUTCOME): ComparedRuns => ({
  ...{ client: "pi", version: "1.0.0", what: "1M", goal: 0.75, direct: OUTCOME, observe },
  proxy: { ...OUTCOME, dollars: 1, ...proxy },
})

test("BEY-11 the comparison names refusals, other answers, a higher cost, and an observer that costs something", () => {
  expect(proxiedDefects(row({}))).toEqual([])
  expect(proxiedDefects(row({ refused: ["too long"] }))).toEqual(["refused: too long"])
  expect(proxiedDefects(row({ answers: ["ANSWER[7 parts, port 4711]"] }))).toEqual(["the answers differ"])
  expect(proxiedDefects(row({ dollars: 1.6 }))).toEqual(["costs 0.80, more than 0.75"])
  expect(proxiedDefects(row({}, { ...OUTCOME, dollars: 2.01 }))).toEqual(["observing costs something"])
  expect(comparedTable([row({})])).toMatch(/^pi +1\.0\.0 +1M +50\/50 +0\/0 +1 equal +\$2\.00 +0\.50 +1\.00 .*works$/m)
})

test("BEY-11 what the client's own compaction lost may be known through the proxy, and not the other way round", () => {
  const lost = ["ANSWER[8 parts, port unknown]"]
  expect(proxiedDefects({ ...row({}), direct: { ...OUTCOME, answers: lost } })).toEqual([])
  expect(proxiedDefects(row({ answers: lost }))).toEqual(["the answers differ"])
})
