import { describe, expect, test } from "vitest"
import type { Message, Usage } from "../../../packages/core/src/messages/messages.ts"
import { needs } from "../../../packages/core/test/needs.ts"
import { isWhole } from "../../../packages/core/test/size.ts"
import { recordedConversations } from "../recordings.ts"
import { compareRecording, tally } from "./compare-recordings.ts"
import { recordedRequests } from "./recorded-requests.ts"
import { spread } from "./token-shares.ts"

const MODEL = "claude-sonnet-5" // preserves thinking and caches from 1,024 tokens on
const MINUTE = 60_000

/** Builds a small recording: messages with their times, and the usage that the API reported. */
class Recording {
  readonly messages: Message[] = []
  #at = Date.parse("2026-01-01T00:00:00Z")

  wait(milliseconds: number): this {
    this.#at += milliseconds
    return this
  }

  says(text: string): this {
    return this.#push({ type: "user", message: { role: "user", content: [{ type: "text", text }] } })
  }

  results(count: number): this {
    const content = Array.from({ length: count }, (_, index) => ({
      type: "tool_result" as const,
      tool_use_id: `call-${index}`,
      content: "done",
    }))
    return this.#push({ type: "user", message: { role: "user", content } })
  }

  boundary(): this {
    return this.#push({ type: "system", subtype: "compact_boundary" })
  }

  /** `counts`: tokens read from the cache, written to it, uncached input, and output. */
  answers(
    counts: readonly [number, number, number, number],
    content: readonly object[] = [{ type: "text", text: "Yes." }],
  ) {
    const [read, write, input, output] = counts
    const usage: Usage = {
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: write,
    }
    const id = `msg-${this.messages.length}`
    return this.#push({
      type: "assistant",
      message: { id, role: "assistant", model: MODEL, content: content as never, usage },
    })
  }

  compare() {
    const compared = compareRecording({
      name: "hand-made",
      format: "claude-code",
      model: MODEL,
      messages: this.messages,
    })
    return (compared?.requests ?? []).map(({ verdict, prediction: { read, write } }) => ({ verdict, read, write }))
  }

  #push(message: Record<string, unknown>): this {
    const uuid = `uuid-${this.messages.length}`
    const timestamp = new Date(this.#at).toISOString()
    this.messages.push({ uuid, parentUuid: this.messages.at(-1)?.uuid ?? null, timestamp, ...message } as Message)
    this.#at += 1000
    return this
  }
}

const calls = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ type: "tool_use", id: `call-${index}`, name: "Read", input: {} }))

describe("BEY-8: requests are rebuilt from a recording", () => {
  test("pieces of one response are one request, with the last piece's usage", () => {
    const { messages } = new Recording().says("Hello").answers([0, 5000, 3, 1]).says("Go on").answers([5000, 100, 3, 9])
    const [hello, first, goOn, second] = messages
    const piece = structuredClone(first) as Extract<Message, { type: "assistant" }>
    const later = {
      ...piece,
      uuid: "piece",
      message: { ...piece.message, usage: { ...piece.message.usage!, output_tokens: 40 } },
    }
    const requests = recordedRequests([hello!, first!, later, goOn!, second!], MODEL)
    expect(requests.map(({ usage }) => usage.output)).toEqual([40, 9])
    expect(requests.map(({ blocks }) => blocks.length)).toEqual([1, 4])
  })

  test("a request begins when the last thing was sent, and holds nothing from before a boundary", () => {
    const { messages } = new Recording()
      .says("Hello")
      .answers([0, 5000, 3, 1])
      .wait(MINUTE)
      .boundary()
      .says("A summary")
      .answers([4000, 100, 3, 1])
    const [, second] = recordedRequests(messages, MODEL)
    expect(second?.startedAt).toBe(Date.parse(messages[3]!.timestamp))
    expect(second?.blocks).toHaveLength(1)
    expect(second?.circumstances).toMatchObject({ context: 1, opensContext: true })
  })

  test("tokens are spread in proportion and add up", () => {
    expect(spread(10, [1, 1, 1])).toEqual([3, 4, 3])
    expect(spread(7, [0, 0])).toEqual([0, 7])
    expect(spread(5, [])).toEqual([])
  })
})

describe("BEY-8: reads and writes are predicted from sizes, breakpoints and times", () => {
  test("what was cached is read, what is new is written", () => {
    // 5,003 tokens in total: 4,000 of system and tools were cached, 1,000 are new, 3 follow the last block. Then 5,253: 5,000 are read, 250
    // written, 3 follow the last block.
    const seen = new Recording().says("Hello").answers([4000, 1000, 3, 50]).says("Go on").answers([5000, 250, 3, 5])
    expect(seen.compare()).toEqual([
      { verdict: "given", read: 4000, write: 1000 },
      { verdict: "exact", read: 5000, write: 250 },
    ])
  })

  test("after five idle minutes all is written again", () => {
    const seen = new Recording().says("Hello").answers([4000, 1000, 3, 50])
    seen
      .wait(5 * MINUTE)
      .says("Back")
      .answers([0, 5250, 3, 5])
    expect(seen.compare().at(-1)).toEqual({ verdict: "exact", read: 0, write: 5250 })
  })

  test("after a boundary system and tools are read, the summary is written", () => {
    const seen = new Recording().says("Hello").answers([4000, 9000, 3, 50])
    seen.boundary().says("A summary").answers([4000, 700, 3, 5])
    expect(seen.compare().at(-1)).toEqual({ verdict: "exact", read: 4000, write: 700 })
  })

  test("ten calls and ten results put the last entry out of sight: 20 positions and no more", () => {
    // Breakpoints are on the last result and on the last call before it. From the last call (position 10 after the entry)
    // the entry is found; with 20 calls it is at position 21.
    const ten = new Recording()
      .says("Hello")
      .answers([4000, 1000, 3, 900], calls(10))
      .results(10)
      .answers([5000, 2000, 3, 5])
    expect(ten.compare().at(-1)).toEqual({ verdict: "exact", read: 5000, write: 2000 })
    const twenty = new Recording()
      .says("Hello")
      .answers([4000, 1000, 3, 900], calls(20))
      .results(20)
      .answers([4000, 3000, 3, 5])
    expect(twenty.compare().at(-1)).toEqual({ verdict: "exact", read: 4000, write: 3000 })
  })

  test("a prompt below the model's minimum is not cached", () => {
    const seen = new Recording().says("Hello").answers([0, 0, 900, 5]).says("Go on").answers([0, 1100, 3, 5])
    seen.says("Go on").answers([1100, 90, 3, 5])
    expect(seen.compare().map(({ read, write }) => [read, write])).toEqual([
      [0, 0],
      [0, 1100],
      [1100, 90],
    ])
  })
})

describe("BEY-8: what was not predicted has a cause, where the record shows one", () => {
  const begun = () => new Recording().says("Hello").answers([4000, 1000, 3, 50])
  const answered = new Recording().says("Hello").answers([4000, 1000, 3, 500])
  const last = (recording: Recording) => recording.compare().at(-1)?.verdict

  test.each([
    ["lost", begun().says("Go on").answers([0, 5250, 3, 5])],
    ["messagesLost", begun().says("Go on").answers([4000, 1250, 3, 5])],
    ["interrupted", begun().says("[Request interrupted by user]").answers([4000, 1250, 3, 5])],
    ["shrank", begun().says("Go on").answers([4000, 500, 3, 5])],
    ["sideRequest", answered.says("Go on").answers([5500, 9, 3, 5])],
    [
      "warmedByOthers",
      begun()
        .wait(6 * MINUTE)
        .says("Back")
        .answers([3000, 2250, 3, 5]),
    ],
    [
      "outlived",
      begun()
        .wait(6 * MINUTE)
        .says("Back")
        .answers([5000, 250, 3, 5]),
    ],
    ["markEarlier", begun().says("Go on").answers([5000, 50, 203, 5])],
    [
      "sentBefore",
      begun()
        .says(`Read this: ${"a long text, ".repeat(400)}`)
        .answers([9000, 0, 3, 5]),
    ],
  ])("%s", (cause, recording) => {
    expect(last(recording)).toBe(cause)
  })
})

describe("BEY-8: the recordings", () => {
  test.runIf(isWhole)("predict what the API counted", needs("transcripts"), () => {
    const compared = recordedConversations().flatMap((each) => compareRecording(each) ?? [])
    const ours = compared.filter(({ provider }) => provider === "messages-api")
    const { predicted, exact, within1Percent, breaks, breaksWithin1Percent, causes } = tally(ours)
    const unexplained = (causes.lost ?? 0) + (causes.messagesLost ?? 0) + (causes.unexplained ?? 0)
    expect(ours).toHaveLength(13)
    expect(predicted).toBeGreaterThan(3000)
    // Measured when this test was written: 94.4% exact, 96.2% within 1%, 66 of 164 breaks, 1.9% unexplained.
    expect(exact / predicted).toBeGreaterThan(0.92)
    expect(within1Percent / predicted).toBeGreaterThan(0.945)
    expect(breaksWithin1Percent / breaks).toBeGreaterThan(0.36)
    expect(unexplained / predicted).toBeLessThan(0.03)
  })
})
