/** Checks the documents against generated results. `npm run lab` checks them against measured ones. */
import { readFileSync } from "node:fs"
import { type ReplayReport, scorecard } from "@strata/transcripts/replay"
import { expect, test } from "vitest"
import { claims } from "./claims.ts"
import { type DocumentedFigure, type DocumentedSets, documented, missingIn } from "./documented.ts"
import { frontierPicture } from "./frontier.ts"
import { ratioRange } from "./range.ts"
import { LAB_POLICIES } from "./variants.ts"
import type { ReplayResult } from "./worker.ts"

const COSTS: Readonly<Record<string, number>> = { strata: 2, "strata-not-warmed": 3, "strata-economy": 1.5, optimum: 1 }

function report(policy: string, dollars: number): ReplayReport {
  const counts = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
  return {
    policy,
    about: "",
    totals: {
      ...{
        requests: 9,
        counts,
        dollars,
        weighed: 0,
        peak: 1_000,
        hitRatio: 0,
        compactions: 3,
        blockedMs: 0,
        invalid: 0,
      },
      byPurpose: { conversation: dollars, summary: 0, recall: 0, "keep-warm": 0, notes: 0, memory: 0 },
      acts: { "put aside": 0, cleared: 0, "cleared by the server": 0, "thinking dropped": 0, compacted: 3 },
      saved: { amount: 0, share: 0, unit: "dollars" },
    },
    ...{ requests: [], actions: [], losses: [], boundaries: [], compactions: [], failures: [] },
    usedAgain: {
      names: 1_000,
      inView: 983,
      fetched: 0,
      fetchedTokens: 0,
      readAgain: 0,
      ...(policy === "strata" ? { found: 11 } : {}),
    },
    namesKept: { compactions: 0, names: 0, inView: 0 },
    afterCompaction: {
      ...{ changedFiles: 100, changedFilesNamed: policy === "strata" ? 100 : 41 },
      ...{ paths: 1, pathsTouched: 1, rules: 100, rulesVerbatim: policy === "strata" ? 100 : 45 },
    },
  }
}

/** `worse`: number of recordings in which Strata's policy costs more than all others. */
const replayedOf = (count: number, worse = 0): ReplayResult[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `r${i}`,
    exceedsWindow: i === 0,
    replay: {
      ...{ pauses: "recorded", sizes: "counted", model: "m" },
      reports: LAB_POLICIES.map(({ name }) =>
        report(name, i < worse && ["strata", "strata-not-warmed"].includes(name) ? 10.3 : (COSTS[name] ?? 10)),
      ),
    },
  }))

const setsWith = (worse: number): DocumentedSets => ({ tuned: replayedOf(3), more: replayedOf(4, worse) })
const sets = setsWith(1)
const masked = (text: string) => text.replace(/\d+(\.\d+)?/g, "#")
const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8")
/** Table rows. Generated results cannot leave the same cells empty as the measured ones. */
const isRow = ({ text }: DocumentedFigure) => text.startsWith("| `")

test("BEY-7 every sentence with figures of the lab is in the documents, so the lab can check the figures", () => {
  const byWorse = [0, 1, 2].map((worse) => documented(setsWith(worse)).filter((each) => !isRow(each)))
  const hasAny = (i: number) =>
    byWorse.some((figures) => {
      const { file, text } = figures[i]!
      return missingIn([{ file, text: masked(text) }], (name) => masked(read(name))).length === 0
    })
  expect(byWorse[1]!.filter((_, i) => !hasAny(i))).toEqual([])
})

test("BEY-7 the table of the documents has a row for each policy", () => {
  const names = documented(sets)
    .filter(isRow)
    .map(({ text }) => text.split("|")[1]!.trim())
  expect(names).toHaveLength(LAB_POLICIES.length)
  expect(names.filter((name) => !read("docs/development/policies.md").includes(`| ${name} | `))).toEqual([])
})

test("BEY-7 figures that are out of date are found", () => {
  const figures = documented(sets)
  const text = (file: string) =>
    figures
      .filter((each) => each.file === file)
      .map((each) => each.text)
      .join("\n")
  expect(missingIn(figures, text)).toEqual([])
  const missing = missingIn(figures, (file) => text(file).replaceAll("98.3%", "97.1%").replaceAll("**0.41 ", "**0.42 "))
  expect(missing.map(({ file }) => file)).toContain("README.md")
  expect(missing.map((each) => each.text)).toContain("| `strata` | **0.41** | 0 | 0 | 0 | 0 | 98.3% | 99.4% | |")
})

test("BEY-7 the claims name Strata with other settings, and do not count it as a rival", () => {
  const lines = claims(sets.tuned)
  expect(lines).toContain("strata costs 0.20 (95%: 0.20 to 0.20) of claude-style (3 conversations); goal 0.78: reached")
  expect(lines.join("\n")).toMatch(/^strata-not-warmed costs 0\.30 of claude-style: .*\nstrata-no-lists costs 1\.00/m)
  expect(lines).toContain("strata is dearer than clear-3 by more than 1%: 0 of 3")
  expect(lines.at(-2)).toBe("cheaper than strata: none of them")
})

test("BEY-7 the range of a ratio is that of samples of the recordings, and the same each time", () => {
  const range = ratioRange(sets.more, ["strata", "claude-style"])
  expect(range.value).toBeCloseTo(0.4075)
  expect(range.min).toBeCloseTo(0.2)
  expect(range.max).toBeGreaterThan(0.6)
  expect(ratioRange(sets.more, ["strata", "claude-style"])).toEqual(range)
})

test("BEY-7 the picture of the frontier has every policy that is no bound, in red where someone waited", () => {
  const card = scorecard(sets.more)
  const picture = frontierPicture(card)
  expect(picture).toContain(">strata</text>")
  expect(picture).not.toContain("optimum")
  expect(picture).not.toContain("#c33")
  const waited = { ...card, scores: card.scores.map((score) => ({ ...score, blockedMs: 30_000 })) }
  expect(frontierPicture(waited)).toContain("#c33")
})
