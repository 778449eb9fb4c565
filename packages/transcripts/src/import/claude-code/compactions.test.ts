import { expect, test } from "vitest"
import { importTranscript } from "../import-file.ts"

const SUMMARY = "The parser was fixed in src/parser.ts, and the tests pass. ".repeat(100)

interface Shape {
  readonly version?: string
  /** Minutes between the last response and the boundary. */
  readonly pause?: number
  readonly summary?: object
}

function transcript({ version = "2.1.325", pause = 2, summary = { isCompactSummary: true } }: Shape = {}): string {
  const time = (minutes: number) => new Date(Date.UTC(2026, 5, 1, 9, minutes)).toISOString()
  const usage = {
    input_tokens: 5,
    output_tokens: 40,
    cache_read_input_tokens: 90_000,
    cache_creation_input_tokens: 900,
  }
  const answer = (id: string) => ({
    type: "assistant",
    message: { id, role: "assistant", model: "claude-opus-4-5", content: [{ type: "text", text: "ok" }], usage },
  })
  const lines = [
    { uuid: "u1", parentUuid: null, timestamp: time(0), type: "user", message: { role: "user", content: "Fix it" } },
    { uuid: "a1", parentUuid: "u1", timestamp: time(1), ...answer("msg_1") },
    {
      ...{ uuid: "b", parentUuid: null, logicalParentUuid: "a1", timestamp: time(1 + pause), type: "system" },
      ...{ subtype: "compact_boundary", version, compactMetadata: { trigger: "auto", preTokens: 100_000 } },
    },
    {
      ...{ uuid: "s", parentUuid: "b", timestamp: time(1 + pause), type: "user", ...summary },
      message: { role: "user", content: `This session is being continued from a previous conversation. ${SUMMARY}` },
    },
    { uuid: "a2", parentUuid: "s", timestamp: time(3 + pause), ...answer("msg_2") },
  ]
  return lines.map((line) => `${JSON.stringify({ sessionId: "s1", cwd: "/p", ...line })}\n`).join("")
}

const spentIn = (text: string) => importTranscript({ name: "t.jsonl", text })[0]!.spent ?? []

test("BEY-10 a compaction that the transcript does not record is estimated from its boundary and its summary", () => {
  const [spent, ...others] = spentIn(transcript())
  expect(others).toEqual([])
  expect(spent).toMatchObject({ purpose: "compaction", model: "claude-opus-4-5", estimated: true, unrecorded: true })
  expect(spent!.after).toBe("a1")
  expect(spent!.usage).toMatchObject({ input_tokens: 0, cache_read_input_tokens: 100_000 })
  expect(spent!.usage.output_tokens).toBeGreaterThan(1_000)
  expect(spent!.usage.output_tokens).toBeLessThan(2_500)
})

test("BEY-10 2.0 reads no cache for its summary; after a long pause the context is written again", () => {
  expect(spentIn(transcript({ version: "2.0.76" }))[0]!.usage).toMatchObject({ input_tokens: 100_000 })
  expect(spentIn(transcript({ version: "2.0.76" }))[0]!.usage).not.toHaveProperty("cache_read_input_tokens")
  expect(spentIn(transcript({ pause: 30 }))[0]!.usage).toMatchObject({ cache_creation_input_tokens: 100_000 })
})

test("BEY-10 the copy of a compaction in a fork's transcript has the same id", () => {
  const id = (text: string) => spentIn(text)[0]!.responseId
  expect(id(transcript().replaceAll('"s1"', '"s2"').replaceAll('"b"', '"b2"'))).toBe(id(transcript()))
  expect(id(transcript({ pause: 3 }))).not.toBe(id(transcript()))
})

test("BEY-10 text that a plugin wrote in place of a summary asked no model", () => {
  expect(spentIn(transcript({ summary: {} }))).toEqual([])
})
