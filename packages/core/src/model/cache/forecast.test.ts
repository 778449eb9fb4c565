import { describe, expect, test } from "vitest"
import type { Block } from "../../messages/blocks.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { findModel } from "../../tokens/models.ts"
import type { CachedResponse, CacheHistory } from "../../views/cache/cache-history.ts"
import type { CacheChange } from "../../views/cache/pauses.ts"
import { CacheForecast, type ForecastOptions } from "./forecast.ts"
import { KnownEntries } from "./prefix.ts"
import type { ProviderReason } from "./verdict.ts"
import { describeBreak } from "./verdict.ts"

const MODEL = "claude-opus-5" // $5 per million input tokens, $6.25 to write, $0.50 to read; at least 512 tokens
const MINUTE = 60_000
const START = Date.UTC(2026, 0, 1)

const text = (words: string): Block => ({ type: "text", text: words })
const usage = (read: number, written: number, more: Partial<Usage> = {}): Usage => ({
  input_tokens: 0,
  output_tokens: 1,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: written,
  ...more,
})

interface SendOptions {
  readonly announced?: CacheChange[]
  readonly answeredAt?: number
  /** Edits that the server reports. */
  readonly serverEdits?: readonly object[]
  readonly provider?: ProviderReason
}

/** A conversation whose requests grow: each step states what is added, when, and what the API counts. */
class Talk {
  readonly forecast: CacheForecast

  constructor(options: Pick<ForecastOptions, "cacheLifetime"> = {}) {
    this.forecast = new CacheForecast({ factsOf: (name) => findModel(name).facts, estimate: () => 1_000, ...options })
  }

  request: ModelRequest = {
    model: MODEL,
    max_tokens: 10,
    system: "You help.",
    messages: [{ role: "user", content: [text("a")] }],
  }

  add(...blocks: Block[]): this {
    const answer = { role: "assistant" as const, content: [text("so")] }
    const messages = [...this.request.messages, answer, { role: "user" as const, content: blocks }]
    this.request = { ...this.request, messages }
    return this
  }

  change(more: Partial<ModelRequest> & { betas?: readonly string[] }): this {
    this.request = { ...this.request, ...more } as ModelRequest
    return this
  }

  send(minute: number, counted: Usage, options: SendOptions = {}) {
    const { announced = [], answeredAt = minute, serverEdits = [], ...more } = options
    this.forecast.sent(this.request, { at: new Date(START + minute * MINUTE), announced })
    return this.forecast.settled(counted, { at: new Date(START + answeredAt * MINUTE), serverEdits, ...more })!
  }
}

/** Three normal requests, after which 50,000 tokens are read and 60,000 are cached. */
function healthy(): Talk {
  const talk = new Talk()
  talk.send(0, usage(0, 30_000))
  talk.add(text("b")).send(1, usage(30_000, 20_000))
  talk.add(text("c")).send(2, usage(50_000, 10_000))
  return talk
}

describe("CACHE-7 the forecast", () => {
  test("reads what was read and written before; a first request reads nothing that is known here", () => {
    const talk = new Talk()
    expect(talk.send(0, usage(0, 30_000))).toEqual({
      predicted: { read: 0, written: 30_000, counted: true },
      actual: { read: 0, written: 30_000 },
      verdict: { kind: "first" },
    })
    expect(talk.add(text("b")).send(1, usage(30_000, 5_000))).toEqual({
      predicted: { read: 30_000, written: 5_000, counted: true },
      actual: { read: 30_000, written: 5_000 },
      verdict: { kind: "as-predicted" },
    })
  })

  test("says before the answer what will be written, by the estimated size", () => {
    const { forecast, request } = healthy().add(text("d"))
    const prediction = forecast.sent(request, { at: new Date(START + 3 * MINUTE), size: 63_000 })
    expect(prediction).toEqual({ read: 60_000, written: 3_000, counted: true })
  })

  test("a request that is never answered is forgotten", () => {
    const talk = healthy()
    talk.forecast.sent({ ...talk.request, system: "Else." }, { at: new Date(START + 3 * MINUTE) })
    expect(talk.add(text("d")).send(4, usage(60_000, 1_000)).verdict).toEqual({ kind: "as-predicted" })
    expect(talk.forecast.settled(usage(0, 1), { at: new Date(START) })).toBeUndefined()
  })

  test("what another conversation wrote is more than was known", () => {
    expect(healthy().add(text("d")).send(3, usage(61_000, 0)).verdict).toEqual({ kind: "more", tokens: 1_000 })
  })
})

describe("CACHE-4 the cause of a break", () => {
  test("where the provider dropped it, no earlier message is read again", () => {
    const talk = healthy()
    const [first, second, ...rest] = talk.request.messages
    let reads = 0
    const watched = {
      role: "assistant" as const,
      get content() {
        reads++
        return second!.content as Block[]
      },
    }
    talk.change({ messages: [first!, watched, ...rest] }).send(3, usage(60_000, 1_000))
    talk.forecast.sent(talk.add(text("d")).request, { at: new Date(START + 4 * MINUTE) })
    const before = reads
    expect(talk.add(text("e")).send(4, usage(0, 70_000)).verdict).toMatchObject({
      kind: "break",
      cause: { kind: "provider" },
    })
    expect(reads).toBe(before)
  })

  test("the time to live, also where only the answer came too late", () => {
    const late = healthy().add(text("d")).send(8, usage(0, 65_000)).verdict
    expect(late).toMatchObject({
      kind: "break",
      foreseen: true,
      lost: 60_000,
      cause: { kind: "time-to-live", idleMs: 6 * MINUTE, lifetime: "5m" },
      rewrittenTokens: { tokens: 60_000, dollars: expect.closeTo((60_000 * 5.75) / 1_000_000, 9) },
    })
    const retried = healthy().add(text("d")).send(6, usage(0, 65_000), { answeredAt: 9 }).verdict
    expect(retried).toMatchObject({ kind: "break", foreseen: false, cause: { kind: "time-to-live" } })
  })

  test("entries written for an hour live an hour", () => {
    const talk = new Talk()
    const forAnHour = (read: number, written: number) =>
      usage(read, written, { cache_creation: { ephemeral_1h_input_tokens: written } })
    talk.send(0, forAnHour(0, 30_000))
    expect(talk.add(text("b")).send(59, forAnHour(30_000, 20_000)).verdict.kind).toBe("as-predicted")
    expect(talk.add(text("c")).send(120, usage(0, 60_000)).verdict).toMatchObject({
      kind: "break",
      cause: { kind: "time-to-live", lifetime: "1h" },
    })
  })

  test("a changed message, with block and byte; what comes before it is read", () => {
    const talk = healthy()
    const messages = talk.request.messages.with(2, { role: "user", content: [text("B")] })
    const { predicted, verdict } = talk.change({ messages }).add(text("d")).send(3, usage(30_000, 35_000))
    expect(predicted).toMatchObject({ read: 30_000, written: 35_000, counted: true })
    expect(verdict).toMatchObject({
      kind: "break",
      foreseen: true,
      cause: { kind: "changed", part: "messages", message: 2, block: 0, byte: 23 },
    })
    expect(describeBreak(verdict as never)).toBe(
      "The cache was lost: 30,000 tokens had to be sent again for $0.17 more, because message 3 changed (block 1, byte 23).",
    )
  })

  test("CACHE-4 the provider's word: where it names another cause, the requests are compared once more, and both are reported", () => {
    const provider = { changed: "messages", tokens: 60_000 } as const
    const lost = healthy().add(text("d")).send(3, usage(0, 65_000), { provider })
    expect(lost.verdict).toMatchObject({ kind: "break", cause: { kind: "provider" }, provider })
    expect(describeBreak(lost.verdict as never)).toContain(
      "nothing had changed here. The provider reports that the messages changed, 60,000 tokens; a second comparison of the requests shows no such change.",
    )
  })

  test.each([
    ["model", { model: "claude-opus-4-8" }],
    ["tools", { tools: [{ name: "Read", input_schema: { type: "object" as const } }] }],
    ["system", { system: "You hurry." }],
    ["settings", { tool_choice: { type: "none" as const } }],
  ])("another %s", (part, more) => {
    const { verdict } = healthy().change(more).add(text("d")).send(3, usage(0, 65_000))
    expect(verdict).toMatchObject({ kind: "break", cause: { kind: "changed", part } })
  })

  test("betas, where nothing else explains it; where all was read they do not matter", () => {
    const asked = () =>
      healthy()
        .change({ betas: ["x"] })
        .add(text("d"))
    expect(asked().send(3, usage(0, 65_000)).verdict).toMatchObject({ cause: { kind: "changed", part: "betas" } })
    expect(asked().send(3, usage(60_000, 5_000)).verdict).toEqual({ kind: "as-predicted" })
  })

  test("more blocks than the server looks back over", () => {
    const talk = healthy()
    const grown = [text("c"), ...Array.from({ length: 20 }, (_, i) => text(`${i}`))]
    const messages = talk.request.messages.with(4, { role: "user", content: grown })
    const { predicted, verdict } = talk.change({ messages }).send(3, usage(50_000, 30_000))
    expect(predicted.read).toBe(50_000) // the end of the request before the last has a breakpoint
    expect(verdict).toMatchObject({ kind: "less", cause: { kind: "look-back", items: 21 } })
  })

  test("too little for a cache", () => {
    const { verdict } = healthy()
      .add(text("d"))
      .send(3, usage(0, 0, { input_tokens: 300 }))
    expect(verdict).toMatchObject({ cause: { kind: "below-minimum", tokens: 300, minimum: 512 } })
  })

  test("the provider, where nothing here explains it; what follows is predicted from what it reported", () => {
    const talk = healthy()
    const { verdict } = talk.add(text("d")).send(3, usage(0, 65_000))
    expect(verdict).toMatchObject({ kind: "break", foreseen: false, cause: { kind: "provider" } })
    expect(talk.add(text("e")).send(4, usage(65_000, 1_000)).verdict).toEqual({ kind: "as-predicted" })
  })

  test("a fall of 5% or less, or of 2,000 tokens or less, is a difference and no break", () => {
    expect(healthy().add(text("d")).send(3, usage(48_000, 15_000)).verdict.kind).toBe("less")
    expect(healthy().add(text("d")).send(3, usage(47_499, 15_000)).verdict.kind).toBe("break")
  })
})

describe("CACHE-4 drops that were meant", () => {
  test("what was recorded moves the baseline", () => {
    const { verdict } = healthy()
      .change({ messages: [{ role: "user", content: [text("summary")] }] })
      .send(3, usage(900, 9_000), { announced: ["compaction"] })
    expect(verdict).toMatchObject({ kind: "expected", why: ["compaction"], lost: 59_100 })
  })

  test("but excuses no fall below what was still to be read", () => {
    const talk = healthy()
    const messages = talk.request.messages.with(2, { role: "user", content: [text("B")] })
    const { verdict } = talk.change({ messages }).send(3, usage(0, 65_000), { announced: ["clearing"] })
    expect(verdict).toMatchObject({ kind: "break", foreseen: false })
  })

  test("L2-4 a deletion from the cache, counted from its own baseline", () => {
    const talk = healthy()
    const deleted = { cache_deleted_input_tokens: 20_000 }
    expect(talk.add(text("d")).send(3, usage(40_000, 1_000, deleted))).toMatchObject({
      predicted: { read: 40_000, written: 1_000 },
      verdict: { kind: "expected", why: ["deletion"] },
    })
    expect(talk.add(text("e")).send(4, usage(41_000, 1_000, deleted)).verdict).toEqual({ kind: "as-predicted" })
    expect(talk.add(text("f")).send(5, usage(20_000, 25_000, deleted)).verdict).toMatchObject({
      kind: "break",
      cause: { kind: "provider" },
    })
  })
})

const last: CachedResponse = {
  id: "msg_1",
  turn: 9,
  at: new Date(START).toISOString(),
  model: "claude-opus-5-20260724",
  counts: { input: 0, output: 1, cacheWrite5m: 10_000, cacheWrite1h: 0, cacheRead: 50_000 },
  deleted: 0,
  changes: [],
}

describe("CACHE-7 after opening again", () => {
  function opened(more: Partial<CachedResponse> = {}, serverEdits?: CacheHistory["serverEdits"]): Talk {
    const talk = new Talk()
    talk.forecast.prime({ responses: [{ ...last, ...more }], serverEdits })
    return talk.add(text("b"))
  }

  test("the content is presumed to be unchanged", () => {
    expect(opened().send(1, usage(60_000, 1_000))).toMatchObject({
      predicted: { read: 60_000, written: 1_000, counted: true },
      verdict: { kind: "as-predicted" },
    })
  })

  test("the time goes on", () => {
    const cause = { kind: "time-to-live", idleMs: 30 * MINUTE }
    expect(opened().send(30, usage(0, 61_000)).verdict).toMatchObject({ kind: "break", foreseen: true, cause })
  })

  test("what was decided since names the cause, or is expected", () => {
    const announced: CacheChange[] = ["prompt"]
    expect(opened().send(1, usage(0, 61_000), { announced }).verdict).toMatchObject({ cause: { kind: "prompt" } })
    expect(opened().send(1, usage(0, 20_000), { announced: ["compaction"] }).verdict).toMatchObject({
      kind: "expected",
      why: ["compaction"],
    })
    expect(opened({ model: "claude-sonnet-5" }).send(1, usage(0, 61_000)).verdict).toMatchObject({
      cause: { kind: "changed", part: "model" },
    })
  })

  test("L2-4 a deletion from the cache that was decided since leaves the content as it was", () => {
    const counted = usage(45_000, 1_000, { cache_deleted_input_tokens: 15_000 })
    expect(opened().send(1, counted, { announced: ["deletion"] })).toMatchObject({
      predicted: { read: 45_000, counted: true },
      verdict: { kind: "expected", why: ["deletion"] },
    })
  })

  test("L2-5 what the server had cleared already excuses nothing; what it clears otherwise does", () => {
    const cleared = (tokens: number) => [{ type: "clear_tool_uses_20250919", cleared_input_tokens: tokens }]
    const after = (turn: number, serverEdits: readonly object[]) =>
      opened({}, { turn, text: JSON.stringify(cleared(9_000)) }).send(1, usage(20_000, 41_000), { serverEdits }).verdict
    expect(after(last.turn, cleared(9_000))).toMatchObject({ kind: "break", cause: { kind: "provider" } })
    const meant = { kind: "expected", why: ["clearing"] }
    expect(after(last.turn, cleared(30_000))).toMatchObject(meant)
    expect(after(last.turn, [])).toMatchObject(meant) // the result was complete again
    expect(after(last.turn - 1, cleared(9_000))).toMatchObject(meant) // the result had been complete in between
  })

  test("a new conversation has nothing to go on from", () => {
    const talk = new Talk()
    talk.forecast.prime({ responses: [], serverEdits: undefined })
    expect(talk.send(0, usage(0, 30_000)).verdict).toEqual({ kind: "first" })
  })
})

test("CACHE-7 what is kept of earlier requests is bounded", () => {
  const entries = new KnownEntries()
  const kept = (key: string) => entries.get(key) !== undefined
  for (let i = 0; i < 1_000; i++) {
    entries.keep(`${i}`, { tokens: i, counted: true, lifetime: "5m", start: i })
    if (kept("0")) entries.keep("0", { tokens: 0, counted: true, lifetime: "5m", start: i })
  }
  expect(kept("0")).toBe(true) // used all the time
  expect(Array.from({ length: 1_000 }, (_, i) => kept(`${i}`)).filter(Boolean)).toHaveLength(64)
})

test("CACHE-8 the forecast knows how long each part lives: the prompt for an hour, the messages for five minutes", () => {
  const hour = (tokens: number) => ({
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: tokens },
  })
  const mixed = { cache_creation: { ephemeral_5m_input_tokens: 29_000, ephemeral_1h_input_tokens: 1_000 } }
  const afterTen = (cacheLifetime: "5m" | "1h" | "prompt-1h", counted: Usage) => {
    const talk = new Talk({ cacheLifetime: () => cacheLifetime })
    talk.send(0, counted)
    return talk.add(text("b")).send(10, usage(0, 1)).predicted.read
  }
  expect(afterTen("5m", usage(0, 30_000))).toBe(0)
  expect(afterTen("1h", usage(0, 30_000, hour(30_000)))).toBe(30_000)
  expect(afterTen("prompt-1h", usage(0, 30_000, mixed))).toBe(1_000)
})

test("CACHE-8 the project's instructions live as long as the prompt, also after a resume", () => {
  const mixed = { cache_creation: { ephemeral_5m_input_tokens: 28_000, ephemeral_1h_input_tokens: 2_000 } }
  const afterTen = (cacheLifetime: "5m" | "prompt-1h", first: (talk: Talk) => void) => {
    const talk = new Talk({ cacheLifetime: () => cacheLifetime })
    talk.change({ messages: [{ role: "user", content: [text("Instructions."), text("a")] }] })
    first(talk)
    return talk.add(text("b")).send(10, usage(0, 1)).predicted.read
  }
  const live = (talk: Talk) => void talk.send(0, usage(0, 30_000, mixed))
  const resumed = ({ forecast }: Talk) => forecast.prime({ responses: [last], serverEdits: undefined })
  expect(afterTen("5m", live)).toBe(0)
  expect(afterTen("prompt-1h", live)).toBe(2_000)
  expect(afterTen("prompt-1h", resumed)).toBe(2_000)
})
