import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { usableMemory } from "../../../core/src/base/memory.ts"
import { stringifyExact } from "../../../core/src/messages/exact-json.ts"
import { importTranscript } from "./import-file.ts"
import { canBeWhole, LargeFile, tooLarge } from "./large-file.ts"

const place = { sessionId: "s1", cwd: "/x", timestamp: "2026-01-01T00:00:00.000Z" }
const line = (nth: number, fields: object) =>
  JSON.stringify({ uuid: `u${nth}`, parentUuid: nth === 0 ? null : `u${nth - 1}`, ...place, ...fields })
const user = (nth: number, content: unknown) => line(nth, { type: "user", message: { role: "user", content } })
const call = (nth: number, input: string) =>
  line(nth, {
    type: "assistant",
    message: { id: `m${nth}`, role: "assistant", model: "claude-opus-4-6", content: [], usage: { input_tokens: 1 } },
  }).replace(
    '"content":[]',
    `"content":[{"type":"tool_use","id":"t${nth}","name":"Read","input":${input}},{"type":"text","text":"${"ü".repeat(400)}"}]`,
  )

const TRANSCRIPT = [
  user(0, "Fix it. "),
  call(1, '{ "n": 1.0, "1": 12345678901234567890 }'),
  user(2, [{ type: "tool_result", tool_use_id: "t1", content: "long ".repeat(500) }]),
  line(3, { type: "attachment", attachment: { type: "queued_command", prompt: "and that ".repeat(90) } }),
  line(4, { type: "progress", data: { type: "hook_progress", text: "x".repeat(900) } }),
  "not JSON",
  call(5, "{}"),
].join("\n")

async function fileWith(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "strata-large-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, "some.jsonl")
  await writeFile(path, text)
  return path
}

const importLarge = (path: string) => {
  const large = new LargeFile(path)
  return importTranscript({ name: "some.jsonl", text: large.head(), large })
}

test.each(["", "\n", "\r\n\n"])(
  "JRN-6 a file that is read line by line gives the same conversation (end %j)",
  async (end) => {
    const path = await fileWith(TRANSCRIPT + end)
    const [whole] = importTranscript({ name: "some.jsonl", text: await readFile(path, "utf8") })
    const [streamed] = importLarge(path)
    expect(stringifyExact(streamed)).toBe(stringifyExact(whole))
    expect(streamed!.report.lines).toBe(7)
  },
)

test("JRN-6 lines that cross the pieces in which a file is read are whole", async () => {
  const lines = Array.from({ length: 40 }, (_, nth) => user(nth, "ß".repeat(30_000 + nth)))
  const path = await fileWith(lines.join("\n"))
  expect([...new LargeFile(path).lines()]).toEqual(lines)
})

test("JRN-6 only what memory can hold is read whole, and the sentence says how to allow more", () => {
  expect(canBeWhole(usableMemory() / 10)).toBe(true)
  expect(canBeWhole(usableMemory() / 2)).toBe(false)
  expect(tooLarge("some.traj is larger").message).toMatch(
    /^some\.traj is larger than [\d,]+ MB of memory can hold\. Nothing was imported\. Allow more memory: NODE_OPTIONS=/,
  )
})
