import { expect, test } from "vitest"
import { rememberedText } from "./memory-line.ts"

test.each([
  ["# We use pnpm.", "We use pnpm."],
  ["#always run the linter ", "always run the linter"],
  ["  # 2 spaces, never tabs", "2 spaces, never tabs"],
])("%j is remembered", (input, text) => {
  expect(rememberedText(input)).toBe(text)
})

test.each(["Use # for comments", "#", "#   ", "## Plan", "#123 still fails", "#!/bin/sh", "# Title\n\nA pasted page."])(
  "%j is a message",
  (input) => {
    expect(rememberedText(input)).toBeUndefined()
  },
)
