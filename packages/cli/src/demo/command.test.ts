import type { QueryEnd } from "@strata/core"
import { expect, test } from "vitest"
import { exitCode } from "./command.ts"

const ends: readonly (readonly [QueryEnd, number, string | undefined])[] = [
  [{ reason: "answer", text: "Done." }, 0, undefined],
  [{ reason: "max-turns", limit: 80 }, 0, undefined],
  [{ reason: "aborted" }, 130, "Stopped. The scratch copy is removed."],
  [{ reason: "no-progress", why: "It paused 3 times." }, 8, "no progress. It paused 3 times."],
  [{ reason: "error", message: "No route.", error: new Error("No route.") }, 1, "No route."],
]

test.each(ends)("the demo says how it ended, and its exit code too: %o", (end, code, sentence) => {
  const complaints: string[] = []
  expect(exitCode(end, (sentence) => complaints.push(sentence))).toBe(code)
  expect(complaints).toEqual(sentence === undefined ? [] : [expect.stringContaining(sentence)])
})
