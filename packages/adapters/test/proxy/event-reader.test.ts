import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { stringifyExact } from "../../../core/src/messages/exact-json.ts"
import { isWhole } from "../../../core/test/size.ts"
import { AssembledMessage } from "../../src/clients/http/answer-events.ts"
import { EventReader } from "../../src/clients/http/event-reader.ts"
import { ANSWER_EVENTS, ANSWER_MESSAGE, eventText } from "./raw-upstream.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? 200)

/** The bytes passed and the assembled message. `early`: bytes passed before the stream was complete. */
function read(chunks: readonly Buffer[]) {
  const reader = new EventReader()
  const message = new AssembledMessage()
  const passed: Buffer[] = []
  let beforeLast: Buffer | undefined
  for (const chunk of chunks)
    for (const { bytes, data } of reader.push(chunk)) {
      if (data !== undefined && message.take(data) === "last") beforeLast ??= Buffer.concat(passed)
      passed.push(bytes)
    }
  passed.push(reader.rest())
  return { bytes: Buffer.concat(passed), message, beforeLast }
}

function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const at = [...new Set(places.map((place) => place % bytes.length))].toSorted((a, b) => a - b)
  return [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length))
}

const places = fc.array(fc.nat(), { maxLength: 60 })
const lineEnds = fc.constantFrom("\n", "\r\n", "\r")

describe("BEY-11: a stream of events", () => {
  test.runIf(isWhole)("any cut into chunks gives the same bytes and the same message", () => {
    fc.assert(
      fc.property(places, lineEnds, (at, end) => {
        const stream = Buffer.from(eventText(ANSWER_EVENTS).replaceAll("\n", end))
        const { bytes, message } = read(cut(stream, at))
        expect(bytes.equals(stream)).toBe(true)
        expect(JSON.parse(JSON.stringify(message.complete()))).toEqual(ANSWER_MESSAGE)
        expect(stringifyExact(message.complete())).toContain('"input":{"b": 1.0, "a":"ü"}')
      }),
      { numRuns: RUNS },
    )
  })

  test("no byte of the last event passes before it is complete", () => {
    fc.assert(
      fc.property(places, lineEnds, (at, end) => {
        const ended = (text: string) => text.replaceAll("\n", end)
        const all = ended(eventText(ANSWER_EVENTS))
        const { beforeLast } = read(cut(Buffer.from(all), at))
        const before = ended(eventText(ANSWER_EVENTS.slice(0, -1)))
        // the second half of a line end may come with the next event
        expect([before, before.slice(0, -1)]).toContain(beforeLast?.toString())
      }),
      { numRuns: RUNS },
    )
  })

  test("random bytes pass unchanged, and are no message", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom("data:", "data: {", "\n\n", "\r", ":\n", "event: message_stop\n", "\uFEFF")
        .map((t) => Buffer.from(t)),
    )
    fc.assert(
      fc.property(fc.array(piece), places, (pieces, at) => {
        const stream = Buffer.concat([...pieces, Buffer.from(" ")])
        const { bytes, message } = read(cut(stream, at))
        expect(bytes.equals(stream)).toBe(true)
        expect(message.partial()).toBeUndefined()
      }),
      { numRuns: RUNS },
    )
  })

  test("a complete event passes at once, and so does a comment or a long beginning", () => {
    const reader = new EventReader()
    const text = (chunk: string) => reader.push(Buffer.from(chunk)).map(({ bytes }) => bytes.toString())
    expect(text("event: a\ndata: 1\n\n: still here\nda")).toEqual(["event: a\ndata: 1\n\n", ": still here\n"])
    const long = `ta: ${"x".repeat(5000)}`
    expect(text(long)).toEqual([`da${long}`])
    expect(text("y")).toEqual(["y"])
    expect(reader.push(Buffer.from("\n\n"))).toEqual([{ bytes: Buffer.from("\n\n"), data: `${long.slice(4)}y` }])
  })

  test("a stream that is not the API's has no message, whatever came before", () => {
    const events = eventText(ANSWER_EVENTS.slice(0, -1))
    expect(
      read([Buffer.from(`${events}data: {oops\n\ndata: {"type":"message_stop"}\n\n`)]).message.complete(),
    ).toBeUndefined()
    expect(read([Buffer.from('data: {"type":"message_start"}\n\n')]).message.partial()).toBeUndefined()
    expect(read([Buffer.from("data: null\n\n")]).message.partial()).toBeUndefined()
  })

  test.runIf(isWhole)("an event without an end is passed on and costs no memory", () => {
    const reader = new EventReader()
    const chunk = Buffer.from(`data: ${"x".repeat(1024 * 1024)}`)
    let passed = 0
    for (let count = 0; count < 20; count++) for (const { bytes } of reader.push(chunk)) passed += bytes.length
    expect({ passed, isLost: reader.isLost }).toEqual({ passed: 20 * chunk.length, isLost: true })
  })
})
