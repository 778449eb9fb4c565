import { describe, expect, test } from "vitest"
import { findOpenFence, withFencesClosed } from "./blocks.ts"

describe("code fences", () => {
  test.each([
    ["text", undefined],
    ["```ts\ncode", "```"],
    ["```ts\ncode\n```", undefined],
    ["- ```bash\nls", "```"],
    ["      ```\ncode", "```"],
    ["~~~\n```\nno fence inside another", "~~~"],
    ["````\n```\n````", undefined],
    ["```\na fence with a word does not close it\n```ts", "```"],
    ["```code in one line```", undefined],
    ["a sentence with ``` in it", undefined],
  ])("%j leaves open: %j", (text, expected) => {
    expect(findOpenFence(text)).toBe(expected)
    expect(findOpenFence(withFencesClosed(text))).toBeUndefined()
    expect(withFencesClosed(text).startsWith(text)).toBe(true)
  })
})
