import { describe, expect, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { isFromUser, isSentToModel, isShownToUser, sinceLastBoundary } from "./messages.ts"

describe("messages", () => {
  test("MSG-1 each kind has a uuid, a parent and a timestamp", () => {
    const { messages } = conversation()
      .user("hi")
      .say("ho")
      .attach({ type: "compact_file_reference", path: "a" })
      .system("x")
      .progress()
    expect(messages.map(({ type }) => type)).toEqual(["user", "assistant", "attachment", "system", "progress"])
    messages.forEach((message, at) => {
      expect(message.uuid).toMatch(/^[0-9a-f-]{36}$/)
      expect(message.parentUuid).toBe(messages[at - 1]?.uuid ?? null)
      expect(Date.parse(message.timestamp)).not.toBeNaN()
    })
  })

  test("MSG-6 sinceLastBoundary begins with the last boundary, or with everything", () => {
    const none = conversation().user("a").say("b")
    expect(sinceLastBoundary(none.messages)).toEqual(none.messages)
    const two = conversation().user("a").boundary().user("b").boundary().user("c")
    expect(sinceLastBoundary(two.messages)).toEqual(two.messages.slice(3))
  })

  test("MSG-13 a user sees no meta messages, and summaries only in the transcript", () => {
    const { messages } = conversation()
      .user("words")
      .user("internal", { isMeta: true })
      .user("summary", { isCompactSummary: true })
      .user("hidden", { isVisibleInTranscriptOnly: true })
    expect(messages.map((message) => isShownToUser(message))).toEqual([true, false, false, false])
    expect(messages.map((message) => isShownToUser(message, "transcript"))).toEqual([true, false, true, true])
  })

  test("MSG-13 the model is sent neither progress nor system messages, nor another conversation's", () => {
    const { messages } = conversation()
      .user("a")
      .progress()
      .system("b")
      .boundary()
      .user("c", { isSidechain: true })
      .say("d")
    expect(messages.map(isSentToModel)).toEqual([true, false, false, false, false, true])
  })

  test("the human's words are neither results nor meta nor summaries", () => {
    const { messages } = conversation()
      .user("words")
      .user("m", { isMeta: true })
      .call("Read")
      .result("r")
      .user("s", { isCompactSummary: true })
    expect(messages.map(isFromUser)).toEqual([true, false, false, false, false])
  })
})
