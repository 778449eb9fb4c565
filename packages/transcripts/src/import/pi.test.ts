import { expect, test } from "vitest"
import { flatten } from "../../../core/src/messages/flatten.ts"
import { isFromUser } from "../../../core/src/messages/messages.ts"
import { listActiveBranch } from "./active-branch.ts"
import { pi } from "./pi.ts"

const HEADER = { type: "session", version: 3, id: "s1", cwd: "/repo", timestamp: "2026-01-01T00:00:00Z" }

function read(...entries: readonly object[]) {
  const text = [HEADER, ...entries].map((entry) => JSON.stringify(entry)).join("\n")
  const [conversation] = pi.read({ name: "session.jsonl", text })
  return conversation!
}

const entry = (id: string, parentId: string | null, more: object) => ({
  id,
  parentId,
  timestamp: "2026-01-01T00:00:01Z",
  ...more,
})
const user = (id: string, parentId: string | null, content: string) =>
  entry(id, parentId, { type: "message", message: { role: "user", content } })
const answer = (id: string, parentId: string | null, text: string, more: object = {}) =>
  entry(id, parentId, {
    type: "message",
    message: {
      role: "assistant",
      model: "m",
      content: text ? [{ type: "text", text }] : [],
      stopReason: "stop",
      usage: { input: 5, output: 1, cacheRead: 2, cacheWrite: 3 },
      ...more,
    },
  })

test("JRN-6: entries form a tree, also across entries that are no messages", () => {
  const { messages, report, title } = read(
    user("a", null, "one"),
    answer("b", "a", "first try"),
    entry("c", "a", { type: "model_change", modelId: "n" }),
    answer("d", "c", "second try"),
    entry("e", "d", { type: "session_info", name: "A name" }),
  )
  const [one, first, second] = messages
  expect([first?.parentUuid, second?.parentUuid]).toEqual([one?.uuid, one?.uuid])
  expect(listActiveBranch(messages)).toEqual([one, second])
  expect(report.notes).toContain("messages on abandoned branches: 1")
  expect(title).toBe("A name")
})

test("JRN-6: a compaction keeps the messages from the one it names", () => {
  const { messages } = read(
    user("a", null, "one"),
    answer("b", "a", "two"),
    user("c", "b", "three"),
    entry("d", "c", { type: "thinking_level_change", thinkingLevel: "high" }),
    entry("e", "d", { type: "compaction", summary: "Done: one, two.", firstKeptEntryId: "c", tokensBefore: 7 }),
    user("f", "e", "four"),
  )
  const [, , three, boundary, summary, four] = messages
  expect(boundary).toMatchObject({
    parentUuid: null,
    logicalParentUuid: three?.uuid,
    compactMetadata: { preTokens: 7, preservedMessages: { anchorUuid: summary?.uuid, uuids: [three?.uuid] } },
  })
  expect(four?.parentUuid).toBe(summary?.uuid)
})

test("JRN-6: usage is kept, but not the zeros of a request that was interrupted", () => {
  const zeros = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  const { messages } = read(
    user("a", null, "one"),
    answer("b", "a", "two"),
    answer("c", "b", "thr", { usage: zeros, stopReason: "aborted" }),
    answer("d", "c", "", { usage: zeros, stopReason: "error", errorMessage: "Overloaded" }),
  )
  const usages = messages.map((m) => (m.type === "assistant" ? m.message.usage : undefined))
  expect(usages).toEqual([
    undefined,
    { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 3 },
    undefined,
    undefined,
  ])
  expect(messages[3]).toMatchObject({ isApiErrorMessage: true, message: { content: [{ text: "Overloaded" }] } })
  expect(flatten(messages).messages).toHaveLength(2)
})

test("JRN-6: commands of the user reach the model unless they were kept from it", () => {
  const bash = (more: object) => ({
    type: "message",
    message: { role: "bashExecution", command: "ls", output: "a.ts", exitCode: 0, ...more },
  })
  const { messages } = read(
    user("a", null, "one"),
    entry("b", "a", bash({})),
    entry("c", "b", bash({ excludeFromContext: true })),
  )
  expect(messages.filter(isFromUser)).toHaveLength(1)
  expect(flatten(messages).messages[0]?.content).toHaveLength(2)
})

test("JRN-6: ids that repeat and parents that are not known do no harm", () => {
  const { messages, report } = read(
    user("a", "z", "one"),
    user("a", null, "again"),
    user("b", "later", "two"),
    user("later", "b", "three"),
  )
  expect(messages.map(({ parentUuid }) => parentUuid)).toEqual([null, messages[0]?.uuid, messages[1]?.uuid])
  expect(report.understood).toMatchObject({ "message:user": 3, "message again": 1 })
})

test("JRN-6: a message of the system is sent, and is not the user's", () => {
  const { messages, report } = read(
    entry("s", null, { type: "message", message: { role: "system", content: "Today is Monday." } }),
    user("a", "s", "hello"),
  )
  expect(messages[0]).toMatchObject({
    type: "user",
    isMeta: true,
    message: { content: [{ text: "Today is Monday." }] },
  })
  expect(messages.filter(isFromUser)).toHaveLength(1)
  expect(report.notUnderstood).toEqual({})
})
