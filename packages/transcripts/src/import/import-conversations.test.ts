import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { localUser } from "../../../core/src/base/owner.ts"
import { type ListConversationsOptions, listConversations } from "../../../core/src/conversation/list.ts"
import { memoryStore } from "../../../core/src/journal/in-memory/store.ts"
import { validateRequest } from "../../../core/src/messages/validate/validator.ts"
import { findModel } from "../../../core/src/tokens/models.ts"
import { serialiseRequest } from "../../../core/src/views/context/request.ts"
import { has, needs } from "../../../core/test/needs.ts"
import { openTestConversation } from "../../../core/test/open.ts"
import { size } from "../../../core/test/size.ts"
import { importConversations } from "./import-conversations.ts"

const RECORDINGS = join(import.meta.dirname, "../../../../../shared/data/transcripts")
const sizeOf = (name: string) => statSync(join(RECORDINGS, name)).size
const all = has("transcripts")
  ? readdirSync(RECORDINGS, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:jsonl|traj)$/.test(name))
      .toSorted((a, b) => sizeOf(a) - sizeOf(b))
  : ["a recording"]
const files = size(all.slice(0, 2), all)

describe("JRN-6 importing into a journal", () => {
  test.each(files)("%s can be opened and gone on with", needs("transcripts"), async (name) => {
    const store = memoryStore()
    const outcomes = await importConversations({
      file: join(RECORDINGS, name),
      cwd: "/nowhere",
      owner: localUser,
      store,
      env: {},
    })
    expect(outcomes.length).toBeGreaterThan(0)
    for (const { id, report } of outcomes) {
      const counted = [...Object.values(report.understood), ...Object.values(report.notUnderstood)]
      expect(counted.reduce((sum, count) => sum + count, 0)).toBe(report.lines)

      const chat = await openTestConversation({ store, id, model: "claude-opus-4-6[1m]" })
      await chat.add({ role: "user", content: "Where were we?" })
      const request = await chat.prepare()
      expect(validateRequest({ request, model: findModel("claude-opus-4-6").facts })).toEqual([])
      expect(request.messages.at(-1)!.content.at(-1)).toEqual({ type: "text", text: "Where were we?" })

      const { total, human, assistant, thinking, commandOutput, other, ...groups } = chat.accounting()
      const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
      const attachments = Object.values(groups.attachments).map(({ tokens }) => tokens)
      const tools = [...Object.values(groups.toolRequests), ...Object.values(groups.toolResults)]
      expect(human + assistant + thinking + commandOutput + other + sum(attachments) + sum(tools)).toBe(total)

      const body = serialiseRequest(request)
      await chat.close()
      const again = await openTestConversation({ store, id, model: "claude-opus-4-6[1m]" })
      expect(serialiseRequest(await again.prepare())).toBe(body)
    }
  })

  test("a conversation has the time of its last message, not of its import", async () => {
    const store = memoryStore()
    const directory = mkdtempSync(join(tmpdir(), "strata-import-"))
    const file = join(directory, "old.jsonl")
    const line = { type: "user", uuid: "u", parentUuid: null, sessionId: "old", cwd: "/nowhere" }
    const userLine = { ...line, timestamp: "2026-01-05T09:30:00.000Z", message: { role: "user", content: "Fix it." } }
    writeFileSync(file, `${JSON.stringify(userLine)}\n`)
    const where: ListConversationsOptions = { cwd: "/nowhere", owner: localUser, store, env: {} }
    await importConversations({ file, ...where })
    rmSync(directory, { recursive: true })
    expect(await listConversations(where)).toMatchObject([{ updated: "2026-01-05T09:30:00.000Z" }])
  })

  test("a file that was imported before is refused, and says so", needs("transcripts"), async () => {
    const name = files[0]!
    const store = memoryStore()
    const options = { file: join(RECORDINGS, name), cwd: "/nowhere", store, env: {} }
    await importConversations(options)
    await expect(importConversations(options)).rejects.toThrow(/is already in memory. It was not changed/)
  })

  test("a file that is not there gets a sentence", async () => {
    await expect(importConversations({ file: "/nowhere/x.jsonl", store: memoryStore(), env: {} })).rejects.toThrow(
      /cannot be read \(ENOENT\)/,
    )
  })
})
