import type { AssistantMessage } from "@strata/core"
import { expect, test } from "vitest"
import { plainStyle as style } from "../display/terminal.ts"
import { analyse } from "./analysis.ts"
import { report } from "./report.ts"

const answer = (id: string, text: string, output_tokens: number): AssistantMessage => ({
  uuid: `u-${id}-${text.length}`,
  parentUuid: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  type: "assistant",
  message: {
    id,
    role: "assistant",
    model: "claude-opus-4-5",
    content: [{ type: "text", text }],
    usage: { input_tokens: 10, output_tokens },
  },
})
const LONG = "The parser reads one token at a time and keeps a stack. ".repeat(40)

test("TOK-7 inspect says so instead of printing a wrong price", async () => {
  const analysis = await analyse({
    file: "talk.jsonl",
    format: "claude-code",
    id: "talk",
    model: "claude-opus-4-5",
    report: { lines: 1, understood: {}, notUnderstood: {}, notes: [] },
    entries: [answer("a", LONG, 3)],
    aside: [],
  })
  const text = report(analysis, { columns: 80, style }).join("\n")
  expect(text).toContain("Money  more than $0.")
  expect(text.replace(/\s+/g, " ")).toContain("The output tokens of 1 response were not recorded in full: 3 recorded")
})
