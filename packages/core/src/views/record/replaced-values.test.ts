import { describe, expect, it } from "vitest"
import { isReplacedBy } from "./replaced-values.ts"

describe("L4-37 a sentence that replaces an earlier one", () => {
  it.each([
    ["Budget cap is $201.", "Budget cap is $956."],
    ["Budget cap is $201.", "The cap is now $956."],
    ["The service listens on 8080.", "The service listens on 9090."],
    ["The staging port is 8080", "Correction: the staging port is 8443, since 8080 is taken."],
    ["The deploy region is Frankfurt.", "The deploy region is now Oslo."],
    ["Always use npm.", "Use pnpm instead of npm."],
    ["The schema is in db/schema.sql.", "Moved db/schema.sql to db/main.sql."],
    ["The retry limit was raised from 3 to 5.", "The retry limit is now 8."],
    ["The timeout is 30 s.", "Raised the timeout from 30 s to 45 s."],
    ["Release date: 2026-03-01", "Release date: 2026-04-15"],
    ["On-call owner is Alice.", "On-call owner is Bob."],
  ])("%s is replaced by: %s", (earlier, later) => {
    expect(isReplacedBy(earlier, later)).toBe(true)
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
  ])("%s is not replaced by: %s", (earlier, later) => {
    expect(isReplacedBy(earlier, later)).toBe(false)
  })
})
