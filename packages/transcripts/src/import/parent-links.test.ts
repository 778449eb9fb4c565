import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Message, Uuid } from "../../../core/src/messages/messages.ts"
import { listActiveBranch } from "./active-branch.ts"
import { claudeCode } from "./claude-code/claude-code.ts"
import { resolveParents } from "./parent-links.ts"

const messageWith = (uuid: Uuid, parentUuid: Uuid | null, more: object = {}) =>
  ({ uuid, parentUuid, timestamp: "", type: "user", message: { role: "user", content: uuid }, ...more }) as Message
const boundary = (uuid: Uuid, logicalParentUuid: Uuid | null, compactMetadata = {}) =>
  messageWith(uuid, null, {
    type: "system",
    subtype: "compact_boundary",
    logicalParentUuid,
    compactMetadata: { trigger: "auto", preTokens: 1, ...compactMetadata },
  })
const summary = (uuid: Uuid, parentUuid: Uuid) => messageWith(uuid, parentUuid, { isCompactSummary: true })

const settle = (...messages: readonly Message[]) => resolveParents({ messages, skipped: new Map() })
const pathOf = (...messages: readonly Message[]) =>
  listActiveBranch(settle(...messages).messages).map(({ uuid }) => uuid)

describe("JRN-6: where the links of a file fail, the order of the file decides", () => {
  test("a parent that is not in the file", () => {
    const lines = [messageWith("a", null), messageWith("b", "a"), messageWith("c", "gone"), messageWith("d", "c")]
    expect(pathOf(...lines)).toEqual(["a", "b", "c", "d"])
    expect(settle(...lines).repairs).toMatchObject({ unlinked: 1, startsLater: false })
  })

  test("the first message may follow one that is not in the file", () => {
    expect(settle(messageWith("a", "gone"), messageWith("b", "a")).repairs).toMatchObject({
      unlinked: 0,
      startsLater: true,
    })
  })

  test.each([["gone"], [null]])("a boundary that names %s as the message before it", (logical) => {
    const lines = [messageWith("a", null), boundary("b", logical), summary("s", "b"), messageWith("c", "s")]
    expect(pathOf(...lines)).toEqual(["a", "b", "s", "c"])
    expect(settle(...lines).repairs.boundaries).toBe(1)
  })

  test("a boundary that names a message of the file is left alone, and so is a true branch", () => {
    const lines = [
      messageWith("a", null),
      messageWith("b", "a"),
      messageWith("c", "a"),
      boundary("d", "c"),
      summary("s", "d"),
    ]
    expect(pathOf(...lines)).toEqual(["a", "c", "d", "s"])
    expect(settle(...lines).repairs).toEqual({ unlinked: 0, boundaries: 0, afterKept: 0, startsLater: false })
  })

  test("the user went back to the start: that is a branch, in the same session", () => {
    expect(pathOf(messageWith("a", null), messageWith("b", "a"), messageWith("c", null))).toEqual(["c"])
    const [first, second] = [{ sessionId: "one" }, { sessionId: "two" }]
    expect(pathOf(messageWith("a", null, first), messageWith("c", null, second))).toEqual(["a", "c"])
    expect(pathOf(messageWith("a", null), messageWith("b", null, { type: "assistant" }))).toEqual(["a", "b"])
  })

  test.each([
    ["the messages", { preservedMessages: { anchorUuid: "s", uuids: ["b", "k"] } }],
    ["the ends", { preservedSegment: { headUuid: "b", anchorUuid: "s", tailUuid: "k" } }],
  ])("a boundary that names %s it keeps: what hangs below them follows the summary", (_, kept) => {
    const before = [messageWith("a", null), messageWith("b", "a"), messageWith("k", "b")]
    const lines = [...before, boundary("c", "k", kept), summary("s", "c"), messageWith("d", "k"), messageWith("e", "d")]
    expect(pathOf(...lines)).toEqual(["a", "b", "k", "c", "s", "d", "e"])
    const { messages, repairs } = settle(...lines)
    expect(repairs.afterKept).toBe(1)
    expect(messages[3]).toMatchObject({
      compactMetadata: { preservedMessages: { anchorUuid: "s", uuids: ["b", "k"] } },
    })
  })

  test("a kept message list of another shape keeps nothing", () => {
    const odd = { preservedMessages: { uuids: "b" } }
    expect(pathOf(messageWith("a", null), boundary("c", "a", odd), messageWith("d", "a"))).toEqual(["a", "d"])
  })

  test("a report of progress below an old message does not decide where the conversation is", () => {
    const progress = (uuid: Uuid, parent: Uuid) => messageWith(uuid, parent, { type: "progress" })
    expect(pathOf(messageWith("a", null), messageWith("b", "a"), progress("p", "a"))).toEqual(["a", "b"])
    expect(pathOf(messageWith("a", null), messageWith("b", "a"), progress("p", "b"))).toEqual(["a", "b", "p"])
    expect(pathOf(messageWith("a", null), messageWith("b", "a"), progress("p", "gone"))).toEqual(["a", "b", "p"])
  })

  test("any links: no loops, and every parent is a message of the file", () => {
    const uuids = ["a", "b", "c", "d", "e", "f"]
    const parents = fc.array(fc.constantFrom(...uuids, "gone", null), { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(parents, (given) => {
        const { messages } = settle(...uuids.map((uuid, index) => messageWith(uuid, given[index]!)))
        const byUuid = new Map(messages.map((message) => [message.uuid, message]))
        for (const message of messages) {
          let at: Message | undefined = message
          for (let steps = 0; at; steps++) {
            expect(steps).toBeLessThan(messages.length)
            if (at.parentUuid !== null) expect(byUuid.has(at.parentUuid)).toBe(true)
            at = byUuid.get(at.parentUuid ?? "")
          }
        }
      }),
    )
  })

  test("a broken line costs what is on it, and the report says what was placed", () => {
    const lines = Array.from({ length: 8 }, (_, n) =>
      JSON.stringify({
        type: "user",
        uuid: `u${n}`,
        parentUuid: n === 0 ? null : `u${n - 1}`,
        sessionId: "s",
        message: { role: "user", content: `message ${n}` },
      }),
    )
    lines[6] = lines[6]!.slice(0, 40)
    const [{ messages, report }] = claudeCode.read({ name: "x.jsonl", text: lines.join("\n") }) as [
      ReturnType<typeof claudeCode.read>[0],
    ]
    expect(listActiveBranch(messages).map(({ uuid }) => uuid)).toEqual(["u0", "u1", "u2", "u3", "u4", "u5", "u7"])
    expect(report.notUnderstood).toEqual({ "not JSON": 1 })
    expect(report.notes).toContain("messages whose parent is not in this file, placed after the line before them: 1")
  })
})
