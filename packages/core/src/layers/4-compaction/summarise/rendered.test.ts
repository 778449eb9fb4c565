/**
 * The complete prompts as a model gets them. The files in `prompts/rendered/` are for reading and reviewing: after a change to a prompt,
 * `npx vitest run -u packages/core/src/layers/4-compaction/summarise/rendered.test.ts` writes them again.
 */
import { describe, expect, test } from "vitest"
import { continuationText, directSystemPrompt, mergePrompt, noRoomNote, summaryPrompt } from "./prompts.ts"

const instructions = ["Keep the exact error messages.", "Remember which tests were skipped."]
const summary = "(the summary)"
const transcriptPath = "/home/me/.strata/projects/app/conversation.jsonl"

describe("L4-11, L4-16, L4-19, L4-25 prompts, whole", () => {
  test.each([
    ["summary-all", summaryPrompt({ kind: "all", instructions: [] })],
    ["summary-all-with-instructions", summaryPrompt({ kind: "all", instructions, words: 1_800 })],
    ["summary-meaning", summaryPrompt({ kind: "all", instructions: [], record: true, words: 1_200 })],
    ["summary-meaning-cleared", summaryPrompt({ kind: "all", instructions, record: true, cleared: "(what is exact)" })],
    ["summary-from", summaryPrompt({ kind: "from", instructions: [], startsWith: "Now the second task" })],
    ["summary-up-to", summaryPrompt({ kind: "up-to", instructions: [] })],
    ["summary-part", summaryPrompt({ kind: "all", instructions: [], part: { number: 2, of: 5 } })],
    ["merge", mergePrompt({ kind: "all", instructions: [], parts: 5 })],
    ["direct-system", directSystemPrompt()],
    ["no-room", noRoomNote()],
    ["continuation-by-hand", continuationText({ summary, transcriptPath, mode: "by-hand", keptMessages: false })],
    ["continuation-automatic", continuationText({ summary, transcriptPath, mode: "automatic", keptMessages: true })],
    ["continuation-autonomous", continuationText({ summary, transcriptPath, mode: "autonomous", keptMessages: true })],
  ])("%s", async (name, prompt) => {
    await expect(`${prompt}\n`).toMatchFileSnapshot(`prompts/rendered/${name}.md`)
  })
})
