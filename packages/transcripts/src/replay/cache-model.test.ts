import type { Block } from "@strata/core"
import { describe, expect, test } from "vitest"
import { CacheModel, LIFE_MS, LONG_LIFE_MS, LOOK_BACK, type PromptItem } from "./cache-model.ts"

const PROMPT: PromptItem = { tokens: 1_000 }
const block = (text: string): Block => ({ type: "text", text })
const item = (text: string, tokens = 100): PromptItem => ({ block: block(text), tokens })
const items = (count: number, from = 0) => Array.from({ length: count }, (_, i) => item(`block ${from + i}`))

/** Requests to one model without a minimum size, each starting at its given time. */
function sender(model = "a") {
  const cache = new CacheModel()
  return (sent: readonly PromptItem[], more: Partial<Parameters<CacheModel["send"]>[0]> = {}) => {
    const { cacheRead, cacheWrite5m, input } = cache.send({
      items: [PROMPT, ...sent],
      before: 1,
      model,
      minimum: 0,
      now: 0,
      ...more,
    })
    return [cacheRead, cacheWrite5m, input]
  }
}

describe("CACHE-5 the model of the server's cache", () => {
  test("reads what the request before wrote and writes what is new", () => {
    const send = sender()
    const first = items(3)
    expect(send(first)).toEqual([0, 1_300, 0])
    expect(send([...first, item("more")], { before: 4 })).toEqual([1_300, 100, 0])
  })

  test("a request that nothing follows reads what is cached, writes nothing, and keeps what it read alive", () => {
    const send = sender()
    const first = items(3)
    send(first)
    const [four, seven] = [4 * 60_000, 7 * 60_000]
    expect(send([...first, item("a question")], { before: 4, writes: false, now: four })).toEqual([1_300, 0, 100])
    expect(send([...first, item("more")], { before: 4, now: seven })).toEqual([1_300, 100, 0])
  })

  test("what was lost before such a request is lost for the next one too", () => {
    const send = sender()
    const first = items(3)
    send(first)
    const incident = { kind: "lost", kept: "prompt", upTo: 1_000 } as const
    expect(send(first, { writes: false, incident })).toEqual([1_000, 0, 300])
    expect(send(first)).toEqual([1_000, 300, 0])
  })

  test("knows equal blocks that are other objects", () => {
    const send = sender()
    send(items(3))
    expect(send(items(3))).toEqual([1_300, 0, 0])
  })

  test("falls back to the prompt where an early block changed", () => {
    const send = sender()
    const first = items(3)
    send(first)
    expect(send([item("other"), ...first.slice(1)])).toEqual([1_000, 300, 0])
  })

  test("takes what the server has cleared for a change", () => {
    const send = sender()
    const first = items(3)
    send(first)
    expect(send([{ ...first[0]!, tokens: 10, isCleared: true }, ...first.slice(1)])).toEqual([1_000, 210, 0])
  })

  test("looks back 20 blocks from the end and from the end of the request before, and no further", () => {
    const first = items(1)
    const long = [...first, ...items(LOOK_BACK, 1)]
    const blind = sender()
    blind(first)
    expect(blind(long)).toEqual([1_000, 2_100, 0])
    const seeing = sender()
    seeing(first)
    expect(seeing(long, { before: 2 })).toEqual([1_100, 2_000, 0])
  })

  test("keeps an entry for five minutes from the start of the last request that used it", () => {
    const send = sender()
    const first = items(1)
    send(first)
    expect(send(first, { now: LIFE_MS - 1 })).toEqual([1_100, 0, 0])
    expect(send(first, { now: 2 * LIFE_MS - 2 })).toEqual([1_100, 0, 0])
    expect(send(first, { now: 3 * LIFE_MS - 2 })).toEqual([0, 1_100, 0])
  })

  test("lets nothing run out where no pause is known", () => {
    const send = sender()
    send(items(1), { now: undefined })
    expect(send(items(1), { now: undefined })).toEqual([1_100, 0, 0])
  })

  test("has nothing for another model, and still has what the first one wrote", () => {
    const send = sender()
    send(items(1))
    expect(send(items(1), { model: "b" })).toEqual([0, 1_100, 0])
    expect(send(items(1))).toEqual([1_100, 0, 0])
  })

  test("caches nothing below the model's minimum", () => {
    const send = sender()
    expect(send(items(1), { minimum: 1_101 })).toEqual([0, 0, 1_100])
    expect(send(items(2), { minimum: 1_101 })).toEqual([0, 1_200, 0])
  })
})

describe("CACHE-8 the model of the server's cache knows lifetimes", () => {
  const send = (cache: CacheModel, more: Partial<Parameters<CacheModel["send"]>[0]> = {}) =>
    cache.send({ items: [PROMPT, ...items(2)], before: 1, model: "a", minimum: 0, now: 0, ...more })

  test("an hour costs more to write and lasts an hour", () => {
    const cache = new CacheModel()
    expect(send(cache, { lifetime: "1h" })).toMatchObject({ cacheWrite1h: 1_200, cacheWrite5m: 0 })
    expect(send(cache, { lifetime: "1h", now: LONG_LIFE_MS - 1 }).cacheRead).toBe(1_200)
    expect(send(cache, { lifetime: "1h", now: 2 * LONG_LIFE_MS }).cacheRead).toBe(0)
  })

  test("an hour for the prompt alone leaves five minutes for the messages", () => {
    const cache = new CacheModel()
    expect(send(cache, { lifetime: "prompt-1h" })).toMatchObject({ cacheWrite1h: 1_000, cacheWrite5m: 200 })
    expect(send(cache, { lifetime: "prompt-1h", now: LIFE_MS })).toMatchObject({ cacheRead: 1_000, cacheWrite5m: 200 })
  })

  test("a read prolongs an entry by the lifetime it was written with", () => {
    const cache = new CacheModel()
    const [first, ...rest] = items(30)
    const at = (now: number, sent: readonly PromptItem[], lifetime: "5m" | "1h") =>
      cache.send({ items: [PROMPT, ...sent], before: 0, promptParts: 0, model: "a", minimum: 0, now, lifetime })
    at(0, [first!], "1h")
    expect(at(LIFE_MS, [first!, ...rest.slice(0, 5)], "5m").cacheRead).toBe(1_100)
    expect(at(3 * LIFE_MS, [first!, ...rest.slice(0, 6)], "5m").cacheRead).toBe(1_100)
  })

  test("a provider that caches by itself bills no writes and counts reads in steps of 128", () => {
    const cache = new CacheModel()
    expect(send(cache, { caching: "automatic" })).toEqual({
      cacheRead: 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      input: 1_200,
    })
    expect(send(cache, { caching: "automatic" })).toMatchObject({ cacheRead: 1_152, input: 48 })
  })

  test("a client that does not cache pays for everything each time", () => {
    const cache = new CacheModel()
    send(cache, { caching: "none" })
    expect(send(cache, { caching: "none" })).toMatchObject({ cacheRead: 0, cacheWrite5m: 0, input: 1_200 })
  })

  test.each([
    [{ kind: "lost", kept: "nothing", upTo: 0 }, 0, 0],
    [{ kind: "lost", kept: "prompt", upTo: 1_150 }, 0, 1_000],
    [{ kind: "lost", kept: "part", upTo: 1_100 }, 0, 1_000],
    [{ kind: "outlived" }, LIFE_MS, 1_200],
    [{ kind: "found", upTo: 1_100 }, LIFE_MS, 1_100],
    [{ kind: "found", upTo: 1_000 }, 0, 1_200], // its own entry is alive and longer
    [{ kind: "answer-cached" }, LIFE_MS, 1_100],
  ] as const)("an incident changes what is read: %o", (incident, now, read) => {
    const cache = new CacheModel()
    send(cache)
    const asked = { items: [PROMPT, ...items(2)], before: 1, answered: 2, model: "a", minimum: 0, now, incident }
    expect(cache.expect(asked).cacheRead).toBe(read)
    expect(cache.send(asked).cacheRead).toBe(read)
  })
})
