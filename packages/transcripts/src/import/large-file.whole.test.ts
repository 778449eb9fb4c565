/** A transcript that is larger than the memory of its process. */
import { spawnSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, writeFileSync, writeSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { beforeAll, expect, test } from "vitest"

const HEAP_MB = 128
const MB = 1024 * 1024
const source = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)))

const place = { sessionId: "s1", cwd: "/x", timestamp: "2026-01-01T00:00:00.000Z" }

/** Writes calls and results of `each` characters. */
function writeTranscript(path: string, { bytes, each }: { readonly bytes: number; readonly each: number }): void {
  const file = openSync(path, "w")
  const text = "some words of a result ".repeat(Math.ceil(each / 23))
  let written = 0
  for (let nth = 0; written < bytes; nth++) {
    const parent = { parentUuid: nth === 0 ? null : `u${nth - 1}b`, ...place }
    const call = { type: "tool_use", id: `t${nth}`, name: "Read", input: { file_path: `/x/${nth}` } }
    const result = { type: "tool_result", tool_use_id: `t${nth}`, content: `${nth} ${text}` }
    const lines = [
      {
        type: "assistant",
        uuid: `u${nth}a`,
        ...parent,
        message: { id: `m${nth}`, role: "assistant", content: [call] },
      },
      {
        type: "user",
        uuid: `u${nth}b`,
        ...parent,
        parentUuid: `u${nth}a`,
        message: { role: "user", content: [result] },
      },
    ]
    written += writeSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  }
  closeSync(file)
}

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "strata-large-"))
  return () => rm(directory, { recursive: true })
})

/** Runs a script in a process with little memory. */
function withLittleMemory(script: string): { readonly code: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`--max-old-space-size=${HEAP_MB}`, "--input-type=module", "-e", script],
    { encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } },
  )
  return { code: status, text: `${stdout}${stderr}`.trim() }
}

const importing = (file: string, dir: string) => `
  import { importConversations } from ${source("./import-conversations.ts")}
  import { openConversation } from ${source("../../../core/src/conversation/open.ts")}
  const given = { dir: ${JSON.stringify(dir)}, cwd: ${JSON.stringify(directory)}, env: {} }
  const say = (error) => console.log(error.message)
  const [one] = await importConversations({ ...given, file: ${JSON.stringify(file)} }).catch((error) => [say(error)])
  if (one) console.log(one.report.lines)
  if (one) await openConversation({ ...given, id: one.id, model: "claude-opus-4-6", mustExist: true }).then(() => console.log("opened"), say)`

test("JRN-6 337 MB are imported with 128 MB of memory, and what cannot be opened with them says so", () => {
  const file = join(directory, "large.jsonl")
  writeTranscript(file, { bytes: 337 * MB, each: 12_000 })
  const { code, text } = withLittleMemory(importing(file, join(directory, "home")))
  expect(text).toMatch(/^5\d{4}\n.* MB since its last compaction, and \d+ MB of memory are too few to open it\./)
  expect(code).toBe(0)
})

test("JRN-6 more messages than memory can hold, and a line that is too long, are refused with a sentence", () => {
  const many = join(directory, "many.jsonl")
  writeTranscript(many, { bytes: 100 * MB, each: 10 })
  expect(withLittleMemory(importing(many, join(directory, "many")))).toEqual({
    code: 0,
    text: expect.stringMatching(
      /^many\.jsonl has more messages than \d+ MB of memory can hold\. Nothing was imported\./,
    ),
  })
  const long = join(directory, "long.jsonl")
  writeTranscript(long, { bytes: 1, each: 40 * MB })
  expect(withLittleMemory(importing(long, join(directory, "long")))).toEqual({
    code: 0,
    text: expect.stringMatching(
      /^Line 2 of long\.jsonl is longer than \d+ MB of memory can hold\. Nothing was imported\./,
    ),
  })
  const document = join(directory, "some.traj")
  writeFileSync(
    document,
    JSON.stringify({ trajectory: [], info: {}, history: [{ role: "user", content: "x".repeat(40 * MB) }] }),
  )
  expect(withLittleMemory(importing(document, join(directory, "document")))).toEqual({
    code: 0,
    text: expect.stringMatching(
      /^Line 1 of some\.traj is longer than \d+ MB of memory can hold\. Nothing was imported\./,
    ),
  })
})
