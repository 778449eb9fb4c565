import { expect, it } from "vitest"
import {
  formatClockTime,
  formatCompact,
  formatDollars,
  formatDollarsOrUnknown,
  formatDuration,
  formatPause,
  formatPercent,
  formatTimeAgo,
  pluralize,
} from "./text.ts"

it("writes token counts in five characters", () => {
  expect([0, 999, 1_000, 12_345, 99_949, 99_950, 167_000, 999_499, 999_500, 54_690_000].map(formatCompact)).toEqual([
    "0",
    "999",
    "1.0K",
    "12.3K",
    "99.9K",
    "100K",
    "167K",
    "999K",
    "1.00M",
    "54.69M",
  ])
})

it("never rounds something down to nothing", () => {
  expect([formatPercent(0, 10), formatPercent(1, 1_000), formatPercent(1, 3), formatPercent(5, 0)]).toEqual([
    "0%",
    "<1%",
    "33%",
    "0%",
  ])
})

it("writes money, times and counts", () => {
  expect([formatDollars(0.01234), formatDollars(12.345)]).toEqual(["$0.0123", "$12.35"])
  expect([formatDollars(-0.01234), formatDollars(-12.345), formatDollars(-0.000001)]).toEqual([
    "-$0.0123",
    "-$12.35",
    "$0.0000",
  ])
  expect([formatDollarsOrUnknown(0), formatDollarsOrUnknown(undefined)]).toEqual(["$0.0000", "unknown"])
  expect([formatDuration(40), formatDuration(1_234), formatDuration(65_000)]).toEqual(["40 ms", "1.2 s", "1:05"])
  expect([formatPause(0.2), formatPause(7), formatPause(180), formatPause(60 * 24 * 3)]).toEqual([
    "<1 min",
    "7 min",
    "3 h",
    "3 days",
  ])
  expect([pluralize(1, "file"), pluralize(1_200, "file")]).toEqual(["1 file", "1,200 files"])
  expect(formatClockTime(59_700)).toBe("1:00")
})

it("says how long ago something was", () => {
  const now = new Date("2026-01-02T00:00:00Z")
  const minutesAgo = (minutes: number) => formatTimeAgo(new Date(now.getTime() - minutes * 60_000), now)
  expect([0.5, 1, 59, 60, 24 * 60, 50 * 60].map(minutesAgo)).toEqual([
    "just now",
    "1 minute ago",
    "59 minutes ago",
    "1 hour ago",
    "1 day ago",
    "2 days ago",
  ])
})
