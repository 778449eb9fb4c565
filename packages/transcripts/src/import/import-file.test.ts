import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { ImportError } from "../../../core/src/base/errors.ts"
import { textOf } from "../../../core/src/messages/blocks.ts"
import { exactInputOf } from "../../../core/src/messages/exact-json.ts"
import { contentOf, type UserMessage } from "../../../core/src/messages/messages.ts"
import { isWhole, size } from "../../../core/test/size.ts"
import { importTranscript } from "./import-file.ts"

const importText = (text: string) => importTranscript({ name: "some.jsonl", text })
const user = (uuid: string, parentUuid: string | null, content: unknown) =>
  JSON.stringify({
    type: "user",
    uuid,
    parentUuid,
    sessionId: "s1",
    timestamp: "2026-01-01T00:00:00Z",
    message: { role: "user", content },
  })

describe("JRN-6: files that cannot be imported say why", () => {
  test.each([
    ["an empty file", "", "it is empty"],
    ["blank lines", "\n \n", "it is empty"],
    ["a binary file", "\x7fELF\0\0\0", "it is a binary file"],
    ["prose", "Dear diary", `it does not begin with a JSON object but with "Dear diary"`],
    ["other JSON lines", '{"level":"info","msg":"up"}\n', "with the fields level, msg"],
    ["another JSON document", '{\n  "name": "x",\n  "scripts": {}\n}', "with the fields name, scripts"],
    ["a list", "[1,2]", "it does not begin with a JSON object"],
  ])("%s", (_, text, reason) => {
    expect(() => importText(text)).toThrow(ImportError)
    expect(() => importText(text)).toThrow(reason)
    expect(() => importText(text)).toThrow(
      /^some\.jsonl was not imported: .*claude-code, codex, pi, openhands, opencode, swe-agent/,
    )
  })

  const anyLine = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .record({
        type: fc.constantFrom(
          "user",
          "assistant",
          "system",
          "session",
          "message",
          "compaction",
          "session_meta",
          "compacted",
        ),
        uuid: fc.string(),
        parentUuid: fc.string(),
        payload: fc.object(),
        message: fc.jsonValue(),
        id: fc.string(),
        cwd: fc.string(),
      })
      .map((fields) => JSON.stringify(fields)),
  )
  // generating values takes most of the time, and large ones find no additional failures
  const [SMALL, FEW] = [{ maxDepth: 2, maxKeys: 4 }, { maxLength: 5 }] as const
  const anyDocument = fc.record(
    {
      instance_id: fc.string(),
      info: fc.object(SMALL),
      messages: fc.array(fc.record({ info: fc.object(SMALL), parts: fc.array(fc.jsonValue(SMALL), FEW) }), FEW),
      history: fc.array(fc.jsonValue(SMALL), FEW),
      trajectory: fc.array(fc.jsonValue(SMALL), FEW),
    },
    { requiredKeys: [] },
  )

  test.each([
    ["lines", fc.array(anyLine).map((lines) => lines.join("\n"))],
    ["document", anyDocument.map((document) => JSON.stringify(document))],
  ])("any %s: imported and accounted for, or refused with a sentence", (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        try {
          for (const { report } of importText(text)) {
            const counted = [...Object.values(report.understood), ...Object.values(report.notUnderstood)]
            expect(counted.reduce((sum, count) => sum + count, 0)).toBe(report.lines)
          }
        } catch (error) {
          expect(error).toBeInstanceOf(ImportError)
        }
      }),
      { numRuns: size(50, 1_000) },
    )
  })
})

describe("JRN-6: damaged files are read as far as they go", () => {
  test("a torn last line is counted and reported", () => {
    const [conversation] = importText(`${user("a", null, "one")}\n${user("b", "a", "two").slice(0, -20)}`)
    expect(conversation!.messages).toHaveLength(1)
    expect(conversation!.report).toMatchObject({ lines: 2, understood: { user: 1 }, notUnderstood: { "not JSON": 1 } })
    expect(conversation!.report.notes.join()).toContain("the last line is incomplete")
  })

  test("a bad line in the middle does not end the reading", () => {
    const [conversation] = importText([user("a", null, "one"), "}{", user("b", "a", "two")].join("\n"))
    expect(conversation!.messages.map(({ uuid, parentUuid }) => [uuid, parentUuid])).toEqual([
      ["a", null],
      ["b", "a"],
    ])
    expect(conversation!.report.notUnderstood).toEqual({ "not JSON": 1 })
    expect(conversation!.report.notes).toEqual([])
  })

  test("a byte order mark, Windows line ends and blank lines are no lines", () => {
    const [conversation] = importText(`\uFEFF${user("a", null, "one")}\r\n\r\n${user("b", "a", "two")}\r\n`)
    expect(conversation!.report).toMatchObject({ lines: 2, understood: { user: 2 }, notUnderstood: {} })
  })

  test.runIf(isWhole)("a huge line is a line like any other", () => {
    const huge = "x".repeat(20_000_000)
    const [conversation] = importText(`${user("a", null, huge)}\n`)
    expect(textOf(contentOf(conversation!.messages[0] as UserMessage))).toBe(huge)
  })

  test("lines nested too deeply and lines of strange types are counted", () => {
    const deep = `{"type":"user","uuid":"b","parentUuid":"a","message":${"[".repeat(200_000)}${"]".repeat(200_000)}}`
    const [conversation] = importText(
      [user("a", null, "one"), deep, '{"type":7}', `{"type":"${"t".repeat(500)}"}`].join("\n"),
    )
    expect(conversation!.messages).toHaveLength(1)
    expect(conversation!.report.lines).toBe(4)
    expect(Object.keys(conversation!.report.notUnderstood)).toContain("t".repeat(80))
  })

  test("MSG-5: a tool input keeps its spelling", () => {
    const input = '{"b": 1.0, "a":12345678901234567890, "1":"\\u00e9"}'
    const line = `{"type":"assistant","uuid":"a","parentUuid":null,"message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"N","input":${input}}]}}`
    const [conversation] = importText(line)
    const [message] = conversation!.messages
    expect(message?.type === "assistant" && exactInputOf(contentOf(message)[0]!)).toBe(input)
  })
})
