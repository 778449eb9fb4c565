import { expect, test } from "vitest"
import { searchTerms } from "./search-terms.ts"

const stems = (text: string) => searchTerms(text).map(({ stem }) => stem)

test("BEY-5 an identifier counts by its parts and as a whole", () => {
  expect(stems("parseConfigFile")).toEqual(["pars", "config", "file", "parseconfigfil"])
  expect(stems("MAX_RETRY_COUNT")).toEqual(["max", "retry", "count", "maxretrycount"])
  expect(stems("max-retry-count")).toEqual(["max", "retry", "count"])
})

test("BEY-5 inflected words have one stem, accents and case do not matter", () => {
  expect(stems("deploying deployed deployments")).toEqual(["deploy", "deploy", "deploy"])
  expect(stems("bought given drove children")).toEqual(stems("buys giving driving child"))
  expect(stems("Café CAFE")).toEqual(["cafe", "cafe"])
})

test("BEY-5 common words are left out", () => {
  expect(stems("What is the name of it?")).toEqual(["name"])
})

test("BEY-5 scripts without spaces count as pairs of characters", () => {
  expect(stems("東京都")).toEqual(["東京", "京都"])
})
