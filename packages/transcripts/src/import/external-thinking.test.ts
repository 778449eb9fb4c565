import { describe, expect, test } from "vitest"
import { flatten } from "../../../core/src/messages/flatten.ts"
import { importTranscript } from "./import-file.ts"

const HEADER = { type: "session", version: 3, id: "s1", cwd: "/repo", timestamp: "2026-01-01T00:00:00Z" }
const spoken = (id: string, parentId: string | null, message: object) => ({ type: "message", id, parentId, message })

function read(model: string) {
  const thinking = { type: "thinking", thinking: "Hm.", thinkingSignature: '{"id":"rs_1","type":"reasoning"}' }
  const lines = [
    HEADER,
    spoken("a", null, { role: "user", content: "Go." }),
    spoken("b", "a", { role: "assistant", model, content: [thinking, { type: "text", text: "Done." }] }),
  ]
  return importTranscript({ name: "x.jsonl", text: lines.map((line) => JSON.stringify(line)).join("\n") })[0]!
}

describe("JRN-6: thinking that the API would refuse", () => {
  test("signatures of other models are dropped, and the report counts them", () => {
    const { messages, report } = read("gpt-5")
    expect(messages[1]).toMatchObject({ message: { content: [{ thinking: "Hm.", signature: "" }, { text: "Done." }] } })
    expect(flatten(messages).messages[1]!.content).toEqual([{ type: "text", text: "Done." }])
    expect(report.dropped).toEqual({ "signed thinking of other models": 1 })
    expect(report.notes.join("\n")).toContain("the API would refuse them")
  })

  test.each(["claude-opus-4-5", "us.anthropic.claude-sonnet-4-5-v1:0", "<synthetic>"])("that of %s stays", (model) => {
    const { messages, report } = read(model)
    expect(messages[1]).toMatchObject({ message: { content: [{ signature: expect.stringContaining("rs_1") }, {}] } })
    expect(report.dropped).toBeUndefined()
  })

  test("thinking that only its provider can read is dropped from Claude Code transcripts of other models", () => {
    const line = {
      type: "assistant",
      uuid: "a",
      parentUuid: null,
      sessionId: "s",
      message: { role: "assistant", id: "m", model: "glm-5", content: [{ type: "redacted_thinking", data: "opaque" }] },
    }
    const { messages, report } = importTranscript({ name: "x.jsonl", text: JSON.stringify(line) })[0]!
    expect(JSON.stringify(messages)).not.toContain("opaque")
    expect(report.dropped).toEqual({ "signed thinking of other models": 1 })
  })
})
