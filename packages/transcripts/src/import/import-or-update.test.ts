/** Importing a session of another program: the first time, again, after it grew, and after both were continued. On real files. */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { localUser } from "../../../core/src/base/owner.ts"
import { memoryStore } from "../../../core/src/journal/in-memory/store.ts"
import { has, needs } from "../../../core/test/needs.ts"
import { openTestConversation } from "../../../core/test/open.ts"
import { size } from "../../../core/test/size.ts"
import type { ImportOptions } from "./import-conversations.ts"
import { importOrUpdateConversations } from "./import-or-update.ts"

const RECORDINGS = join(import.meta.dirname, "../../../../../shared/data/transcripts")
/** A file of OpenHands has a conversation in each line, so half of it contains complete ones. */
const SEVERAL = /^openhands/
const recordings = has("transcripts")
  ? readdirSync(RECORDINGS, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl") && !SEVERAL.test(name))
      .filter((name) => statSync(join(RECORDINGS, name)).size < 2_000_000)
      .toSorted()
      .slice(0, size(1, 30))
  : ["a recording"]

let root: string
let file: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-take-up-")))
  file = join(root, "old-session.jsonl")
})
afterEach(() => rmSync(root, { recursive: true }))

const line = (uuid: string, parent: string | null, text: string, more: object = {}) => {
  const role = uuid.startsWith("a") ? "assistant" : "user"
  const message = { role, content: text, ...(role === "assistant" ? { model: "claude-opus-4-6" } : {}) }
  const timestamp = "2026-01-01T00:00:00.000Z"
  const about = { type: role, uuid, parentUuid: parent, timestamp, sessionId: "old-session", cwd: "/work/app" }
  return `${JSON.stringify({ ...about, message, ...more })}\n`
}
const FIRST = line("u1", null, "Which port?") + line("a1", "u1", "8080.")
const MORE = line("u2", "a1", "And the host?") + line("a2", "u2", "localhost.")

describe("JRN-6 taking up a session of another program", () => {
  const store = memoryStore()
  let nth = 0
  const place = (): ImportOptions & { readonly cwd: string } => ({
    file,
    cwd: `/nowhere/${nth}`,
    owner: localUser,
    store,
    env: {},
  })
  beforeEach(() => nth++)
  const taken = async () => (await importOrUpdateConversations(place()))[0]!
  const userTexts = async (id: string) => {
    const chat = await openTestConversation({ store, id, cwd: place().cwd, memory: { owner: localUser } })
    const { messages } = await chat.add("Where were we?").then(() => chat.prepare())
    await chat.close()
    return JSON.stringify(messages)
  }

  test("imports it once, and finds it again", async () => {
    writeFileSync(file, FIRST)
    expect(await taken()).toMatchObject({ id: "old-session", state: "imported", messages: 2, cwd: "/work/app" })
    expect(await taken()).toMatchObject({ id: "old-session", state: "known" })
    expect(readFileSync(file, "utf8")).toBe(FIRST)
    expect(await userTexts("old-session")).toContain("8080.")
  })

  test("brings it up to date if only the file went on", async () => {
    writeFileSync(file, FIRST)
    await taken()
    appendFileSync(file, MORE)
    expect(await taken()).toMatchObject({ id: "old-session", state: "updated", added: 2 })
    expect(await taken()).toMatchObject({ id: "old-session", state: "known" })
    appendFileSync(file, line("u3", "a2", "Thanks.") + line("a3", "u3", "Welcome."))
    expect(await taken()).toMatchObject({ state: "updated", added: 2 })
    const messages = await userTexts("old-session")
    for (const text of ["Which port?", "8080.", "And the host?", "localhost.", "Welcome."])
      expect(messages.split(text)).toHaveLength(2)
  })

  test("keeps both if both went on, and finds the second again", async () => {
    writeFileSync(file, FIRST)
    await taken()
    await userTexts("old-session")
    expect(await taken()).toMatchObject({ id: "old-session", state: "known" })
    appendFileSync(file, MORE)
    const second = await taken()
    expect(second).toMatchObject({ state: "diverged", earlier: "old-session" })
    expect(second.id).not.toBe("old-session")
    expect(await userTexts(second.id)).toContain("localhost.")
    expect(await taken()).toMatchObject({ id: second.id, state: "known" })
    const ours = await userTexts("old-session")
    expect(ours).toContain("Where were we?")
    expect(ours).not.toContain("localhost.")
  })

  test("keeps both if the file took another way", async () => {
    writeFileSync(file, FIRST + MORE)
    await taken()
    appendFileSync(file, line("u4", "a1", "Another question.") + line("a4", "u4", "Another answer."))
    expect(await taken()).toMatchObject({ state: "diverged", earlier: "old-session" })
  })

  test.each(recordings)(
    "a recording taken up in two halves reads as one taken up whole: %s",
    needs("transcripts"),
    async (name) => {
      const lines = readFileSync(join(RECORDINGS, name), "utf8").split("\n")
      writeFileSync(file, `${lines.slice(0, lines.length / 2).join("\n")}\n`)
      const half = await taken()
      writeFileSync(file, lines.join("\n"))
      const whole = await taken()
      expect(["updated", "diverged"]).toContain(whole.state)
      if (whole.state === "updated") expect(whole.id).toBe(half.id)
      const grown = await userTexts(whole.id)
      nth++
      expect((await taken()).state).toBe("imported")
      expect(grown).toBe(await userTexts(half.id))
    },
  )

  test("sub-agents that came later come along", async () => {
    const call = { type: "tool_use", id: "toolu_1", name: "Task", input: { description: "Look", prompt: "Look." } }
    writeFileSync(file, FIRST)
    await taken()
    const result = [{ type: "tool_result", tool_use_id: "toolu_1", content: "Found." }]
    appendFileSync(
      file,
      line("u2", "a1", "Look.") + line("a2", "u2", "", { message: { role: "assistant", content: [call] } }),
    )
    appendFileSync(
      file,
      line("u3", "a2", "", { message: { role: "user", content: result }, toolUseResult: { agentId: "ab12" } }),
    )
    mkdirSync(join(root, "old-session/subagents"), { recursive: true })
    const side = { isSidechain: true, agentId: "ab12" }
    const own = line("u9", null, "Look.", side) + line("a9", "u9", "Found.", side)
    writeFileSync(join(root, "old-session/subagents/agent-ab12.jsonl"), own)
    const outcome = await taken()
    expect(outcome).toMatchObject({ state: "updated", agents: [{ messages: 2 }] })
    expect(await taken()).toMatchObject({ state: "known" })
  })

  test.each(["", "not a transcript", '{"some": "json"}'])(
    "a file of no known format writes nothing: %j",
    async (text) => {
      writeFileSync(file, text)
      await expect(taken()).rejects.toThrow(/Nothing was written/)
      expect((await store.list(`-nowhere-${nth}`)).length).toBe(0)
    },
  )
})
