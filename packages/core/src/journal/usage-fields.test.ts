import { describe, expect, test } from "vitest"
import type { Entry } from "./entries.ts"
import { decodeLine, encodeLine, withoutSum } from "./line.ts"

const USAGE = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 20 }
const PLACE = { uuid: "u1", parentUuid: null, timestamp: "2026-11-15T12:00:00.000Z" }
const answer = (message: object, more: object = {}) =>
  ({
    ...PLACE,
    type: "assistant",
    ...more,
    message: { role: "assistant", content: [], ...message },
  }) as unknown as Entry
const spent = (more: object = {}) =>
  ({
    ...PLACE,
    ...{ type: "strata", subtype: "spent", purpose: "notes", model: "claude-opus-5-5", responseId: "msg_2" },
    usage: USAGE,
    ...more,
  }) as unknown as Entry

const onDisk = (entry: Entry) => JSON.parse(withoutSum(encodeLine(entry).subarray(0, -1)))

describe("JRN-1 what programs that count usage read of a line", () => {
  test.each([
    ["an answer", answer({ id: "msg_1", usage: USAGE }), { id: "msg_1", requestId: "msg_1" }],
    [
      "an imported answer",
      answer({ id: "msg_1", usage: USAGE }, { requestId: "req_1" }),
      { id: "msg_1", requestId: "req_1" },
    ],
    ["an answer without an id", answer({ usage: USAGE }), { id: "u1", requestId: "u1" }],
    ["a request of our own, such as for notes", spent(), { id: "msg_2", requestId: "msg_2" }],
    ["one of an imported agent", spent({ requestId: "req_2" }), { id: "msg_2", requestId: "req_2" }],
  ])("%s has its usage and both ids, and is read as it was written", (_, entry, { id, requestId }) => {
    expect(onDisk(entry)).toMatchObject({ requestId, message: { id, usage: USAGE } })
    expect(decodeLine(encodeLine(entry).subarray(0, -1))).toEqual({ state: "whole", entry })
  })

  test("a request of several passes has the sum of them, and one without usage has none", () => {
    const usage = { ...USAGE, iterations: [USAGE, USAGE] }
    const sums = { input_tokens: 20, output_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 40 }
    expect(onDisk(spent({ usage }))).toMatchObject({ message: { usage: sums }, usage })
    expect(onDisk(answer({ id: "msg_1" }))).not.toHaveProperty("requestId")
  })
})
