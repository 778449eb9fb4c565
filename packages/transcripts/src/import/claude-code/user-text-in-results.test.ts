import { describe, expect, test } from "vitest"
import type { Message } from "../../../../core/src/messages/messages.ts"
import { project } from "../../../../core/src/views/projection.ts"
import { userMessages } from "../../../../core/src/views/record/user-messages.ts"
import { listActiveBranch } from "../active-branch.ts"
import { claudeCode } from "./claude-code.ts"

const REFUSED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "

function wordsAfter(tool: string, result: object, line: object = {}) {
  const lines = [
    { type: "user", uuid: "a", parentUuid: null, message: { role: "user", content: "Clean up." } },
    {
      type: "assistant",
      uuid: "b",
      parentUuid: "a",
      message: { role: "assistant", id: "m", content: [{ type: "tool_use", id: "t1", name: tool, input: {} }] },
    },
    {
      type: "user",
      uuid: "c",
      parentUuid: "b",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", ...result }] },
      ...line,
    },
  ]
  const text = lines.map((each) => JSON.stringify({ sessionId: "s", ...each })).join("\n")
  const { messages } = claudeCode.read({ name: "x.jsonl", text })[0]!
  return wordsOf(listActiveBranch(messages)).slice(1)
}

const wordsOf = (messages: readonly Message[]) =>
  project(userMessages, messages).messages.map(({ text, saidAt, rules }) => ({ text, saidAt, rules }))

describe("JRN-6, L4-29: user text inside a result of Claude Code", () => {
  test("with a refusal: a class of its own, rules included", () => {
    const content = `${REFUSED}To tell you how to proceed, the user said:\nnever delete x, use git stash`
    expect(wordsAfter("Bash", { is_error: true, content })).toEqual([
      { text: "never delete x, use git stash", saidAt: "refusal", rules: ["never delete x, use git stash"] },
    ])
    const withHint = `${content}\n\nNote: The user's next message may contain a correction or preference. Pay attention.`
    expect(wordsAfter("Bash", { is_error: true, content: [{ type: "text", text: withHint }] })).toMatchObject([
      { text: "never delete x, use git stash" },
    ])
  })

  test.each([
    ["without a remark", { is_error: true, content: `${REFUSED}STOP what you are doing and wait for the user.` }],
    ["of a call that did not fail", { content: `${REFUSED}the user said:\nnever` }],
    ["in the middle of an output", { is_error: true, content: `Exit code 1\n${REFUSED}the user said:\nnever` }],
  ])("no words: a refusal %s", (_, result) => {
    expect(wordsAfter("Bash", result)).toEqual([])
  })

  test("answers to questions, from the record or else from the text", () => {
    const content = 'User has answered your questions: "Which port?"="4711", "Which host?"="any". You can now continue.'
    const answers = [
      { text: "4711", saidAt: "answer", rules: [] },
      { text: "any", saidAt: "answer", rules: [] },
    ]
    expect(wordsAfter("AskUserQuestion", { content })).toEqual(answers)
    const toolUseResult = {
      answers: { "Which port?": "4711", "Which host?": ["any"] },
      annotations: { "Which port?": { notes: "never 80" } },
    }
    expect(wordsAfter("AskUserQuestion", { content: "?" }, { toolUseResult }).map(({ text }) => text)).toEqual([
      "4711",
      "any",
      "never 80",
    ])
    expect(wordsAfter("mcp__shop__ask", { content })).toEqual([])
  })
})
