import { describe, expect, it } from "vitest"
import { compareWithLater } from "./replaced-values.ts"

/** Values that only seem to be replaced: they belong to different things. */
const APART: readonly [earlier: string, later: string][] = [
  ["The cap is 5 for A.", "The cap is 7 for B."],
  ["The timeout is 30 s in staging.", "The timeout is 60 s in production."],
  ["The budget is $500 in May.", "The budget is $700 in June."],
  ["The server listens on port 8080.", "The server also listens on port 9090."],
  ["The limit is 10 per user.", "The limit is 100 per organisation."],
  ["The gateway is on port 8080.", "The database is now on port 5432."],
  ["Anna's budget is $500.", "Ben's budget is now $700."],
  ["The frontend uses version 1.2.3.", "The backend now uses version 2.0.0."],
  ["Step 1 is done.", "Step 2 is done."],
  ["Order 4411 is late.", "Order 4412 is late now."],
  ["User 12 must be deleted.", "User 13 must be deleted."],
  ["Delete user 12.", "Delete user 13 now."],
  ["The bug is in src/a.ts.", "The bug is in src/b.ts."],
  ["One of the owners is Anna Bell.", "One of the owners is Carl Dorn."],
  ["Never use port 8080.", "The server is now on port 9090."],
  ["Never delete db/schema.sql without asking.", "Moved db/schema.sql to db/main.sql."],
  ["Use npm to publish the docs.", "Use pnpm instead of npm in the frontend."],
  ["Use npm in the old repository.", "Use pnpm instead of npm in this repository."],
  ["The release is on 3 May 2028.", "The release notes moved to 5 May 2028."],
  ["Tests for the release are due on 3 May 2028.", "The release moved to 5 May 2028."],
]

describe("L4-37 a sentence that replaces an earlier one", () => {
  it.each([
    ["Budget cap is $201.", "Budget cap is $956."],
    ["The service listens on 8080.", "The service listens on 9090."],
    ["The staging port is 8080", "Correction: the staging port is 8443, since 8080 is taken."],
    ["The deploy region is Frankfurt.", "The deploy region is now Oslo."],
    ["Always use npm.", "Use pnpm instead of npm."],
    ["Use npm in this repository.", "Use pnpm instead of npm."],
    ["The schema is in db/schema.sql.", "Moved db/schema.sql to db/main.sql."],
    ["The timeout is 30 s.", "Raised the timeout from 30 s to 45 s."],
    ["Release date: 2026-03-01", "Release date: 2026-04-15"],
    ["On-call owner is Alice.", "On-call owner is Bob."],
    ["The gateway listens on port 3456.", "The gateway's port is 7476 since this morning."],
    ["Alice owns billing.", "Bob owns billing now."],
  ])("%s is replaced by: %s", (earlier, later) => {
    expect(compareWithLater(later)(earlier)).toBe("clear")
  })

  it.each([
    ["Budget cap is $201.", "Budget cap is $201."],
    ["Server A listens on 8080.", "Server B listens on 9090."],
    ["The problem is caching.", "The problem is naming."],
    ["Test 3 took 418 ms.", "Test 4 took 500 ms."],
    ["npm test fails on Windows.", "Use pnpm instead of npm."],
    ["The port is 8080.", "Is the port 9090?"],
    ["The read cap is $201.", "The write cap is $956."],
    ["This is fine.", "That is wrong."],
    ["Look at ticket QX-701.", "Look at ticket QX-702."],
    ["Never push to branch release-12.", "Never push to branch release-13."],
    ...APART,
  ])("%s is not replaced by: %s", (earlier, later) => {
    expect(compareWithLater(later)(earlier)).not.toBe("clear")
  })
})

describe("L4-37 a sentence that may replace an earlier one in other words", () => {
  it.each([
    ["The budget for the migration is $201.", "Small correction: the migration may cost up to $956 now."],
    ["We launch on 24 July 2028.", "The launch has moved to 3 July 2029."],
    ["Budget cap is $201.", "The cap is now $956."],
    ["The retry limit was raised from 3 to 5.", "The retry limit is now 8."],
    ["We have 3 servers.", "We now have 5 servers."],
  ])("%s: %s", (earlier, later) => {
    expect(compareWithLater(later)(earlier)).not.toBe("no")
  })

  it.each([
    ["We have 3 servers.", "Please now restart 2 servers."],
    ["The suite has 15 tests.", "Now 12 tests fail."],
    ["The live system runs in eu-north-2.", "The backup system runs in us-east-7."],
    ...APART,
  ])("not %s: %s", (earlier, later) => {
    expect(compareWithLater(later)(earlier)).toBe("no")
  })
})
