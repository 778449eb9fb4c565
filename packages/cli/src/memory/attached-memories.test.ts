import { expect, test } from "vitest"
import { attachedMemoryLines } from "./attached-memories.ts"

const recalled = (path: string, more: object = {}) => ({
  path,
  at: "2026-01-01T00:00:00.000Z",
  from: "memory" as const,
  words: [],
  ...more,
})

test("L5-7 why: what was there from the start, then each message with its memories, their age, source and words", () => {
  const lines = attachedMemoryLines(
    {
      standing: ["use-tabs.md", "plain-words.md"],
      recalled: [
        recalled("release.md", {
          message: "When do we release?",
          age: "3 days ago",
          source: "said by the user",
          words: ["release", "tuesday"],
          gone: ["scripts/release.sh"],
        }),
        recalled("0f1e2d3c-aaaa-bbbb", { from: "conversation", message: "When do we release?", words: ["release"] }),
        recalled("just-saved.md", { age: "today" }),
      ],
    },
    200,
  )
  expect(lines).toEqual([
    "At the start, in full: use-tabs, plain-words",
    'For "When do we release?":',
    "  release (3 days ago, said by the user). It fits the words release, tuesday. The code no longer has scripts/release.sh.",
    "  a passage of conversation 0f1e2d3c. It fits the words release.",
    "Saved in this conversation:",
    "  just-saved (today).",
  ])
})

test("L5-7 why: the lack of memories is reported, and nothing in a name controls the terminal", () => {
  expect(attachedMemoryLines({ standing: [], recalled: [] }, 80)).toEqual([
    "No memory was offered in this conversation.",
  ])
  const [line] = attachedMemoryLines({ standing: ["a\u001b[2J.md"], recalled: [] }, 80)
  expect(line).not.toContain("\u001b")
})
