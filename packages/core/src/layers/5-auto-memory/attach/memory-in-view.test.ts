import { expect, test } from "vitest"
import type { Attachment } from "../../../messages/attachments.ts"
import { Views } from "../../../views/views.ts"
import { listAttachedMemories, MemoryInView } from "./memory-in-view.ts"

const entry = (attachment: Attachment) => ({
  type: "attachment" as const,
  uuid: "a",
  parentUuid: null,
  timestamp: "2026-11-15T00:00:00.000Z",
  attachment,
})

test("L5-8 what was offered, when, and because of which words", () => {
  const at = "2026-11-15T00:00:00.000Z"
  const standing = { type: "standing_memory", path: "/m", content: "x", files: ["tabs.md"] } as const
  const why = { message: "u1", words: ["port"] }
  expect(listAttachedMemories(entry(standing))).toEqual([{ path: "tabs.md", from: "start", at, words: [] }])
  expect(listAttachedMemories(entry({ type: "memory", path: "db.md", content: "x", why }))).toEqual([
    { path: "db.md", from: "memory", at, message: "u1", words: ["port"] },
  ])
  const passage = { type: "memory", from: "conversation", path: "c#m", content: "x", why } as const
  expect(listAttachedMemories(entry(passage))).toMatchObject([{ path: "c#m", from: "conversation" }])
  expect(listAttachedMemories(entry({ type: "date", date: "2026-11-15" }))).toEqual([])
})

test("L5-8 what the user wrote here is known, and read once however often it is asked for", () => {
  const views = new Views({ family: "claude-4" })
  const say = (uuid: string) =>
    views.apply({
      ...{ type: "user", uuid, parentUuid: null, sessionId: "s", timestamp: "2026-11-15T00:00:00.000Z" },
      message: { role: "user", content: "What about the heron?" },
    })
  const inView = new MemoryInView(views)
  say("u1")
  expect(inView.messages.has("u1")).toBe(true)
  let reads = 0
  const [first] = views.words.messages.splice(0, 1)
  views.words.messages.push({
    ...first!,
    get uuid() {
      reads++
      return "u1"
    },
  })
  say("u2")
  expect(["u1", "u2", "u3"].map((uuid) => inView.messages.has(uuid))).toEqual([true, true, false])
  expect(reads).toBe(0)
})
