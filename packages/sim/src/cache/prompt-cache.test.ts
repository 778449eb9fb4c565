/** One test per caching rule, with the arithmetic written out. */
import { describe, expect, test } from "vitest"
import { isWhole } from "../../../core/test/size.ts"
import type { Ttl } from "../wire.ts"
import { LOOK_BACK, type PrefixItem, PromptCache } from "./prompt-cache.ts"

const MINUTE = 60_000
const MINIMUM = 1000

/** An item of 100 tokens for each letter; `!` puts a breakpoint of 5 minutes on the item before it, `*` one of an hour. */
function prefix(letters: string): readonly PrefixItem[] {
  return [...letters.matchAll(/(\w)([!*]?)/g)].map(([, letter = "", mark]) => {
    const breakpoint: Ttl | undefined = mark === "!" ? "5m" : mark === "*" ? "1h" : undefined
    return { hash: letter, tokens: 100, ...(breakpoint && { breakpoint }) }
  })
}

class TestCache {
  private readonly cache = new PromptCache()
  now = 0

  request(letters: string, { minimum = 100, scope = "default" } = {}) {
    const outcome = this.cache.lookUp({ items: prefix(letters), scope, minimum, now: this.now })
    return { outcome, begin: () => this.cache.commit(outcome) }
  }

  /** A request that is answered at once. */
  send(letters: string, options?: { minimum?: number; scope?: string }) {
    const { outcome, begin } = this.request(letters, options)
    begin()
    const { read, write5m, write1h, uncached } = outcome
    return { read, write5m, write1h, uncached }
  }
}

describe("BEY-8 prompt cache", () => {
  test("nothing marked: nothing is written or read", () => {
    const cache = new TestCache()
    cache.send("abc")
    expect(cache.send("abc")).toEqual({ read: 0, write5m: 0, write1h: 0, uncached: 300 })
  })

  test("a breakpoint writes everything up to it, and the next request reads that much", () => {
    const cache = new TestCache()
    // a b c! d: 3 × 100 written, 1 × 100 after the breakpoint
    expect(cache.send("abc!d")).toEqual({ read: 0, write5m: 300, write1h: 0, uncached: 100 })
    expect(cache.send("abc!d")).toEqual({ read: 300, write5m: 0, write1h: 0, uncached: 100 })
  })

  test("a conversation that grows reads the old and writes the new", () => {
    const cache = new TestCache()
    cache.send("abc!")
    // c is found two positions before the breakpoint: 300 read, d and e (200) written
    expect(cache.send("abcde!")).toEqual({ read: 300, write5m: 200, write1h: 0, uncached: 0 })
  })

  test("entries exist only at breakpoints: a prefix between them is not found", () => {
    const cache = new TestCache()
    cache.send("abcd!")
    // abcd was written, ab never
    expect(cache.send("ab!")).toEqual({ read: 0, write5m: 200, write1h: 0, uncached: 0 })
  })

  test("a change anywhere before the mark misses", () => {
    const cache = new TestCache()
    cache.send("abc!")
    expect(cache.send("xbc!")).toEqual({ read: 0, write5m: 300, write1h: 0, uncached: 0 })
  })

  test("an unchanged prefix up to an earlier breakpoint is still read", () => {
    const cache = new TestCache()
    cache.send("ab!cd!")
    // ab is read (200), x and d are new (200)
    expect(cache.send("ab!xd!")).toEqual({ read: 200, write5m: 200, write1h: 0, uncached: 0 })
  })

  test("looks back over 20 places, including the marked one", () => {
    const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHI" // 35
    const grown = (length: number) => `${letters.slice(0, length)}!`
    const cache = new TestCache()
    cache.send(grown(15))
    // from position 35, the positions 35 … 16 are checked: the entry at 15 is one too far
    expect(cache.request(grown(15 + LOOK_BACK)).outcome.read).toBe(0)
    // from position 34, the positions 34 … 15 are checked
    expect(cache.request(grown(14 + LOOK_BACK)).outcome.read).toBe(1500)
  })

  test("a second breakpoint further up finds what the look-back of the first does not reach", () => {
    const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHI"
    const cache = new TestCache()
    cache.send(`${letters.slice(0, 15)}!`)
    expect(cache.request(`${letters.slice(0, 15)}!${letters.slice(15)}!`).outcome).toMatchObject({
      read: 1500,
      write5m: 2000,
    })
  })

  test("prefixes below the model's minimum are processed without caching", () => {
    const cache = new TestCache()
    // 9 × 100 < 1000: not written; the next one has 10 × 100
    expect(cache.send("abcdefghi!", { minimum: MINIMUM })).toEqual({ read: 0, write5m: 0, write1h: 0, uncached: 900 })
    expect(cache.send("abcdefghij!", { minimum: MINIMUM })).toEqual({ read: 0, write5m: 1000, write1h: 0, uncached: 0 })
  })

  test("an entry lives five minutes from the start of the request that wrote it", () => {
    const cache = new TestCache()
    cache.send("abc!")
    cache.now = 5 * MINUTE - 1
    expect(cache.request("abc!").outcome.read).toBe(300)
    cache.now = 5 * MINUTE
    expect(cache.request("abc!").outcome.read).toBe(0)
  })

  test("an entry of an hour lives an hour", () => {
    const cache = new TestCache()
    expect(cache.send("abc*")).toEqual({ read: 0, write5m: 0, write1h: 300, uncached: 0 })
    cache.now = 60 * MINUTE - 1
    expect(cache.request("abc*").outcome.read).toBe(300)
    cache.now = 60 * MINUTE
    expect(cache.request("abc*").outcome.read).toBe(0)
  })

  test("reading refreshes", () => {
    const cache = new TestCache()
    cache.send("abc!")
    cache.now = 4 * MINUTE
    expect(cache.send("abc!").read).toBe(300)
    cache.now = 8 * MINUTE
    expect(cache.send("abc!").read).toBe(300)
    cache.now = 13 * MINUTE
    expect(cache.send("abc!").read).toBe(0)
  })

  test("the lifetime runs from the start of the request, however late its response begins", () => {
    const cache = new TestCache()
    const { begin } = cache.request("abc!")
    cache.now = 4 * MINUTE
    begin()
    expect(cache.request("abc!").outcome.read).toBe(300)
    cache.now = 5 * MINUTE
    expect(cache.request("abc!").outcome.read).toBe(0)
  })

  test("an entry can be read once its response has begun: parallel requests miss", () => {
    const cache = new TestCache()
    const first = cache.request("abc!")
    expect(cache.request("abc!").outcome.read).toBe(0)
    first.begin()
    expect(cache.request("abc!").outcome.read).toBe(300)
  })

  test("models and workspaces do not share", () => {
    const cache = new TestCache()
    cache.send("abc!", { scope: "work/opus" })
    expect(cache.request("abc!", { scope: "work/sonnet" }).outcome.read).toBe(0)
    expect(cache.request("abc!", { scope: "home/opus" }).outcome.read).toBe(0)
    expect(cache.request("abc!", { scope: "work/opus" }).outcome.read).toBe(300)
  })

  test("mixed lifetimes are billed A, B, C", () => {
    const cache = new TestCache()
    cache.send("ab*")
    // A = 200 (hit at b), B = 400 (the 1h breakpoint at d), C = 600 (the 5m breakpoint at f), then g
    expect(cache.send("ab*cd*ef!g")).toEqual({ read: 200, write1h: 200, write5m: 200, uncached: 100 })
  })

  test("the four parts always add up to the input", () => {
    const cache = new TestCache()
    for (const letters of ["ab*cd!e", "ab*cd!ef!", "abx!", "ab*cd!efgh!i"]) {
      const { read, write5m, write1h, uncached } = cache.send(letters)
      expect(read + write5m + write1h + uncached).toBe(prefix(letters).length * 100)
    }
  })
})

test.runIf(isWhole)("BEY-8 the number of entries is bounded, also if the clock does not move", () => {
  const cache = new PromptCache()
  const commit = (from: number, count: number) =>
    cache.commit({
      ...cache.lookUp({ items: [], scope: "s", minimum: 0, now: 0 }),
      entries: Array.from({ length: count }, (_, index) => ({ key: `${from + index}`, ttl: "5m" as const, start: 0 })),
    })
  commit(0, 199_999)
  commit(1_000_000, 10)
  expect(cache.size).toBe(200_000)
})
