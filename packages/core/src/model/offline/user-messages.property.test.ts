import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { needs } from "../../../test/needs.ts"
import { isWhole, size } from "../../../test/size.ts"
import type { ReadMessage } from "./read-message.ts"
import { summarize } from "./summary.ts"
import { readTimeline, textsOfKind } from "./timeline.ts"

const REPOSITORY = join(import.meta.dirname, "../../../../..")
const TRANSCRIPTS = join(REPOSITORY, "../shared/data/transcripts")

/** Lines that look like parts of a summary. */
const line = fc.oneof(
  fc.constantFrom(
    "1. Primary Request and Intent:",
    "## All User Messages",
    '- "quoted"',
    "~~~",
    "~~~~",
    "```ts",
    "verbatim:",
    "",
  ),
  fc.constantFrom(
    "6. All User Messages:",
    "   - [pending] `todo`",
    '"',
    "<summary>",
    "Nothing in the conversation.",
    "$& $1",
  ),
  fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => text.replace(/\s/g, " ")),
)
const message = fc.array(line, { minLength: 1, maxLength: 6 }).map((lines) => `Words: ${lines.join("\n")}`.trim())

function says(...texts: string[]): ReadMessage {
  return { role: "user", content: texts.map((text) => ({ type: "text", text })) }
}

function userMessagesIn(summary: string): string {
  return summary.slice(summary.lastIndexOf("\n6. All User Messages:\n"), summary.lastIndexOf("\n7. Pending Tasks:\n"))
}

describe("BEY-6 extractive, with any text from the user", () => {
  test("BEY-6 property: every user message stays verbatim through any number of summaries", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(message, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
        (rounds) => {
          let before: ReadMessage[] = []
          for (const messages of rounds) {
            before = [
              says(
                `This conversation continues an earlier one.\n\nSummary:\n${summarize([...before, says(...messages)])}`,
              ),
            ]
          }
          const [last] = before
          for (const words of rounds.flat()) expect(last!.content[0]!.text).toContain(words)
        },
      ),
      { numRuns: size(60, 300) },
    )
  })

  test.runIf(isWhole)("BEY-6 real recordings: no message is lost", needs("transcripts"), () => {
    for (const file of globSync("{claude-code-log,entireio-cli}/*.jsonl", { cwd: TRANSCRIPTS })) {
      const entries = readFileSync(join(TRANSCRIPTS, file), "utf8")
        .trim()
        .split("\n")
        .map((text) => JSON.parse(text))
      const messages: ReadMessage[] = entries
        .filter(({ type, isSidechain }) => ["user", "assistant"].includes(type) && !isSidechain)
        .map(({ message: { role, content } }) => {
          return { role, content: typeof content === "string" ? [{ type: "text", text: content }] : content }
        })
      const half = Math.floor(messages.length / 2)
      const first = summarize(messages.slice(0, half))
      const section = userMessagesIn(summarize([says(`Summary:\n${first}`), ...messages.slice(half)]))
      const userTexts = textsOfKind(readTimeline(messages), "human")
      expect(userTexts.length, file).toBeGreaterThan(0)
      for (const words of userTexts) expect(section.includes(words), `${file}: ${words.slice(0, 80)}`).toBe(true)
    }
  })
})
