import { expect, it } from "vitest"
import { clockTime, counted, dollars, dollarsOrUnknown, duration, pause, percent, short, timeAgo } from "./text.ts"

it("writes token counts in five characters", () => {
  expect([0, 999, 1_000, 12_345, 99_949, 99_950, 167_000, 999_499, 999_500, 54_690_000].map(short)).toEqual([
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
  expect([percent(0, 10), percent(1, 1_000), percent(1, 3), percent(5, 0)]).toEqual(["0%", "<1%", "33%", "0%"])
})

it("writes money, times and counts", () => {
  expect([dollars(0.01234), dollars(12.345)]).toEqual(["$0.0123", "$12.35"])
  expect([dollars(-0.01234), dollars(-12.345), dollars(-0.000001)]).toEqual(["-$0.0123", "-$12.35", "$0.0000"])
  expect([dollarsOrUnknown(0), dollarsOrUnknown(undefined)]).toEqual(["$0.0000", "unknown"])
  expect([duration(40), duration(1_234), duration(65_000)]).toEqual(["40 ms", "1.2 s", "1:05"])
  expect([pause(0.2), pause(7), pause(180), pause(60 * 24 * 3)]).toEqual(["<1 min", "7 min", "3 h", "3 days"])
  expect([counted(1, "file"), counted(1_200, "file")]).toEqual(["1 file", "1,200 files"])
  expect(clockTime(59_700)).toBe("1:00")
})

it("says how long ago something was", () => {
  const now = new Date("2026-01-02T00:00:00Z")
  const minutesAgo = (minutes: number) => timeAgo(new Date(now.getTime() - minutes * 60_000), now)
  expect([0.5, 1, 59, 60, 24 * 60, 50 * 60].map(minutesAgo)).toEqual([
    "just now",
    "1 minute ago",
    "59 minutes ago",
    "1 hour ago",
    "1 day ago",
    "2 days ago",
  ])
})
