import { expect, test } from "vitest"
import { findNamedTime } from "./named-time.ts"

const NOW = new Date("2026-03-10T12:00:00Z")

function days(text: string): string | undefined {
  const span = findNamedTime(text, NOW)
  return span && [span.from, span.to].map((at) => new Date(at).toISOString().slice(0, 10)).join(" to ")
}

test.each([
  ["what did we decide in May 2025?", "2025-05-01 to 2025-06-01"],
  ["what broke in February?", "2026-02-01 to 2026-03-01"],
  ["what broke in November?", "2025-11-01 to 2025-12-01"],
  ["the deploy on 2025-12-24", "2025-12-24 to 2025-12-25"],
  ["on 3 June 2025", "2025-06-03 to 2025-06-04"],
  ["on June 3rd, 2025", "2025-06-03 to 2025-06-04"],
  ["what did I say yesterday?", "2026-03-08 to 2026-03-10"],
  ["two weeks ago", "2026-02-17 to 2026-03-03"],
  ["the plan in 2024", "2024-01-01 to 2025-01-01"],
])("BEY-5 %s names %s", (text, expected) => {
  expect(days(text)).toBe(expected)
})

test.each(["you may march on", "what is the plan?", "port 2024"])("BEY-5 %s names no time", (text) => {
  expect(days(text)).toBeUndefined()
})
