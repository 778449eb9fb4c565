import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { NO_TOKENS } from "../../base/text.ts"
import type { DecisionDraft, Entry } from "../../journal/entries.ts"
import type { Message, Usage } from "../../messages/messages.ts"
import { project } from "../projection.ts"
import { fromJson, toJson } from "../views.ts"
import { type CacheHistory, cacheHistory, totalBreaks } from "./cache-history.ts"

const MODEL = "claude-opus-5-5" // dollars per million tokens: 4 for input, 5 to write, 0.20 to read
const START = Date.parse("2026-01-01T00:00:00Z")

/** A response at this minute that reads so many tokens from the cache and writes a thousand. */
function response(minute: number, read: number, more: Partial<Usage> & { model?: string; id?: string } = {}): Message {
  const { model = MODEL, id, ...rest } = more
  const usage = {
    input_tokens: 0,
    output_tokens: 10,
    cache_creation_input_tokens: 1_000,
    cache_read_input_tokens: read,
    ...rest,
  }
  const [message] = conversation().say("…", { id: id ?? `msg_${minute}`, model, usage }).messages
  return { ...message!, timestamp: new Date(START + minute * 60_000).toISOString() }
}

function decision(draft: DecisionDraft): Entry {
  return { ...draft, uuid: "d", parentUuid: null, timestamp: new Date(START).toISOString() } as Entry
}
const [boundary] = conversation().boundary().messages as [Message]
const cleared = decision({ type: "strata", subtype: "tool-results-cleared", toolUseIds: ["toolu_1"], why: "size" })
const rendered = (why: "start" | "changed") =>
  decision({ type: "strata", subtype: "prompt-rendered", why, system: "x", tools: [], context: "" })
const edited = (count: number) =>
  decision({ type: "strata", subtype: "server-edited", edits: [{ type: "clear_tool_uses", cleared_tool_uses: count }] })

const follow = (...entries: Entry[]): CacheHistory => project(cacheHistory(), entries)
const causes = (...entries: Entry[]) => follow(...entries).breaks.map(({ cause }) => cause)
const before = [response(0, 16_000), response(1, 50_000)]

describe("CACHE-4 breaks in a journal", () => {
  test("are falls by more than 5% and more than 2,000 tokens", () => {
    expect(causes(response(0, 100_000), response(1, 95_001))).toEqual([])
    expect(causes(response(0, 10_000), response(1, 8_001))).toEqual([])
    expect(causes(response(0, 100_000), response(1, 94_000))).toHaveLength(1)
  })

  test("say how long the pause was, what had to be paid again, and what that cost", () => {
    const rewritten = { input_tokens: 5, cache_creation_input_tokens: 50_000 }
    const { breaks } = follow(response(0, 50_000), response(12, 0, rewritten))
    expect(breaks).toEqual([
      {
        turn: 2,
        model: MODEL,
        readBefore: 50_000,
        read: 0,
        rewrittenTokens: 50_005,
        dollars: expect.closeTo((50_000 * (5 - 0.2) + 5 * (4 - 0.2)) / 1_000_000, 9),
        gapMinutes: 12,
        cause: "five-minutes-over",
        responseId: expect.any(String),
      },
    ])
  })

  test("BEY-10 a message that a program wrote in the model's name neither hides a loss nor counts as one", () => {
    const rewritten = { input_tokens: 5, cache_creation_input_tokens: 50_000 }
    const written = response(80, 0, { model: "<synthetic>" })
    const { breaks, turns } = follow(response(0, 50_000), written, response(81, 0, rewritten))
    expect(breaks).toMatchObject([{ turn: 2, cause: "hour-over", rewrittenTokens: 50_005, gapMinutes: 81 }])
    expect(turns).toBe(2)
  })

  test("BEY-10 have the API's own reason next to ours, where the recording has it", () => {
    const imported = { ...response(12, 0), cacheMissReason: "system_changed" }
    expect(follow(response(0, 50_000), imported).breaks).toMatchObject([
      { cause: "five-minutes-over", apiReason: "system_changed" },
    ])
    expect(follow(response(0, 50_000), response(12, 0)).breaks[0]).not.toHaveProperty("apiReason")
  })

  test("new content in a request was not paid again", () => {
    const [found] = follow(response(0, 50_000), response(6, 0, { cache_creation_input_tokens: 90_000 })).breaks
    expect(found).toMatchObject({ rewrittenTokens: 51_000, dollars: expect.closeTo((51_000 * 4.8) / 1_000_000, 9) })
  })

  test("an unknown price is no price of zero", () => {
    const model = "nobody-knows-1"
    const state = follow(response(0, 50_000, { model }), response(6, 0, { model }))
    expect(state.breaks[0]).not.toHaveProperty("dollars")
    expect(totalBreaks(state)).toMatchObject({ breaks: 1, dollars: 0, unpriced: 1 })
  })

  test("have a probable cause", () => {
    expect(causes(...before, response(2, 0, { model: "claude-sonnet-5-5" }))).toEqual(["other-model"])
    expect(causes(...before, response(90, 0))).toEqual(["hour-over"])
    expect(causes(...before, response(2, 0))).toEqual(["all-gone"])
    expect(causes(...before, response(2, 16_100))).toEqual(["prompt-left"])
    expect(causes(...before, response(2, 30_000))).toEqual(["history-changed"])
  })

  test("what was recorded between two responses names it, also after a pause", () => {
    expect(causes(...before, boundary, response(90, 16_000))).toEqual(["compaction"])
    expect(causes(...before, cleared, response(90, 16_000))).toEqual(["clearing"])
    const deletes = decision({ type: "strata", subtype: "tool-results-cleared", toolUseIds: [], why: "cache-edit" })
    expect(causes(...before, deletes, response(2, 16_000))).toEqual(["clearing"])
    expect(causes(...before, rendered("changed"), response(90, 0))).toEqual(["prompt-changed"])
    expect(causes(rendered("start"), ...before, response(90, 0))).toEqual(["hour-over"])
    const back = decision({ type: "strata", subtype: "rewound" })
    expect(causes(...before, back, response(2, 16_000))).toEqual(["rewound"])
    const undone = decision({ type: "strata", subtype: "undone", decision: "d" })
    expect(causes(...before, undone, response(2, 16_000))).toEqual(["undone"])
  })

  test("what was recorded before counts once", () => {
    expect(causes(...before, cleared, response(2, 50_000), response(3, 16_000))).toEqual(["prompt-left"])
  })

  test("what the server says to have cleared explains the response it came with, and the same again explains nothing", () => {
    expect(causes(...before, response(2, 16_000), edited(3))).toEqual(["clearing"])
    const twice = follow(...before, response(2, 50_000), edited(3), response(3, 16_000), edited(3))
    expect(twice.breaks.map(({ cause }) => cause)).toEqual(["prompt-left"])
    expect([...twice.totals.keys()]).toEqual(["prompt-left"])
  })

  test("do not blame five minutes where entries live an hour", () => {
    const forAnHour = { cache_creation: { ephemeral_1h_input_tokens: 1_000 } }
    expect(causes(response(0, 50_000, forAnHour), response(20, 0))).toEqual(["all-gone"])
  })

  test("CACHE-4 blame five minutes where only the prompt lives an hour", () => {
    const mixed = {
      cache_creation_input_tokens: 10_000,
      cache_creation: { ephemeral_1h_input_tokens: 1_000, ephemeral_5m_input_tokens: 9_000 },
    }
    expect(causes(response(0, 50_000, mixed), response(20, 1_000))).toEqual(["five-minutes-over"])
    const messages = { cache_creation_input_tokens: 9_000, cache_creation: { ephemeral_5m_input_tokens: 9_000 } }
    expect(causes(response(0, 50_000, mixed), response(1, 50_000, messages), response(20, 1_000))).toEqual([
      "five-minutes-over",
    ])
  })

  test("have no pause where the record has no times", () => {
    const timeless = [response(0, 50_000), response(9, 0)].map((message) => ({
      ...message,
      timestamp: "1970-01-01T00:00:00.000Z",
    }))
    expect(follow(...timeless).breaks[0]).not.toHaveProperty("gapMinutes")
  })

  test("the pieces of one response are one response: the first has the time, the last the usage", () => {
    const pieces = [response(7, 1_000, { id: "msg_p" }), response(9, 48_000, { id: "msg_p" })]
    const state = follow(response(0, 50_000), ...pieces)
    expect(state.responses).toHaveLength(2)
    expect(state.responses[1]!.at).toBe(new Date(START + 7 * 60_000).toISOString())
    expect(state.breaks).toEqual([])
    expect(totalBreaks(state)).toEqual({ breaks: 0, rewrittenTokens: 0, dollars: 0, unpriced: 0 })
  })

  test("sub-agents and errors in place of an answer are not part of it", () => {
    const aside = { ...response(1, 0), isSidechain: true }
    expect(causes(response(0, 50_000), aside, response(2, 50_000))).toEqual([])
  })

  test("L2-4 a deletion from the cache is no break", () => {
    const deleted = (tokens: number) => ({ cache_deleted_input_tokens: tokens })
    expect(causes(response(0, 50_000), response(1, 31_000, deleted(20_000)))).toEqual([])
    // cumulative: the second request deletes nothing more
    expect(
      causes(response(0, 50_000), response(1, 31_000, deleted(20_000)), response(2, 12_000, deleted(20_000))),
    ).toEqual(["prompt-left"])
  })

  test("the list is bounded and keeps the dearest; the totals count all", () => {
    const falls = Array.from({ length: 130 }, (_, i) => [
      response(2 * i, 100_000 + i, { id: `a${i}` }),
      response(2 * i + 1, 0, { id: `b${i}`, cache_creation_input_tokens: 3_000 + i }),
    ])
    const state = follow(...falls.flat())
    expect(state.breaks).toHaveLength(100)
    expect(Math.min(...state.breaks.map(({ rewrittenTokens }) => rewrittenTokens))).toBe(3_030)
    expect(totalBreaks(state).breaks).toBe(130)
    expect(state.responses.length).toBeLessThanOrEqual(32)
  })

  test("goes through a checkpoint unchanged", () => {
    const rest = [boundary, response(3, 16_000), cleared]
    const whole = follow(...before, response(2, 0), ...rest)
    const kept = fromJson(JSON.parse(JSON.stringify(toJson(follow(...before, response(2, 0)))))) as CacheHistory
    expect(rest.reduce((state, entry) => cacheHistory().apply(state, entry), kept)).toEqual(whole)
  })
})

test("CACHE-4 a request that kept the cache warm counts with its time, also where the server reported no usage", () => {
  const spent = (usage: unknown) =>
    decision({
      ...{ type: "strata", subtype: "spent", purpose: "keep-warm", model: MODEL, responseId: "msg_w", lifetime: "1h" },
      usage: usage as Usage,
    } as DecisionDraft)
  for (const usage of [undefined, null, { input_tokens: "many" }]) {
    const { warmed, pauses } = follow(...before, spent(usage))
    expect(warmed).toEqual({ at: new Date(START).toISOString(), lifetime: "1h", tokens: 0 })
    expect(pauses.pings).toEqual(NO_TOKENS)
  }
})

test("CACHE-8 an hour has saved what was read after a pause only where the request before the pause asked for it", () => {
  const chosen = (forPrompt: "5m" | "1h") =>
    decision({ type: "strata", subtype: "cache-lifetime", forPrompt, forMessages: "5m", why: "" })
  const shared = [response(0, 16_000), chosen("1h"), response(20, 16_000)] // another conversation kept the prompt in the cache
  expect(follow(...shared).pauses.saved).toBe(0)
  expect(follow(...shared, chosen("5m"), response(40, 16_000)).pauses.saved).toBe(16_000)
})
