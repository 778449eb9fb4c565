import { expect, test } from "vitest"
import { withDates } from "./absolute-dates.ts"

const TODAY = "2026-05-01" // a Friday

test.each([
  ["We use pnpm since yesterday.", "We use pnpm since 2026-04-30."],
  ["Yesterday we moved to Ghent. The rest stays.", "On 2026-04-30 we moved to Ghent. The rest stays."],
  ["The freeze lasts until next Monday.", "The freeze lasts until 2026-05-04."],
  ["Ana joined two weeks ago.", "Ana joined on 2026-04-17."],
  ["The old API stays until next month.", "The old API stays until 2026-06."],
  ["Since last week the port is 80.", "Since the week of 2026-04-24 the port is 80."],
  ["Wir nutzen seit gestern pnpm.", "Wir nutzen seit 2026-04-30 pnpm."],
  ["Desde ayer usamos pnpm.", "Desde 2026-04-30 usamos pnpm."],
  ["从昨天起用 pnpm。", "从2026-04-30起用 pnpm。"],
  ["昨日からpnpmを使う。", "2026-04-30からpnpmを使う。"],
])("L5-3 a time that depends on today becomes a date: %s", (text, expected) => {
  expect(withDates(text, TODAY)).toBe(expected)
})

test.each([
  "Always list what changed since yesterday.",
  "The dashboard shows yesterday's numbers.",
  'The button says "since yesterday".',
  "Run `git log --since yesterday` for the report.",
  "Releases are on Fridays.\n\nDeploys take an hour.",
])("L5-3 what is said of every day, quotations and code stay: %s", (text) => {
  expect(withDates(text, TODAY)).toBe(text)
})
