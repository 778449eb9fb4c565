/** Compares the cache with the simplest possible model: a list of written texts, searched from the end. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { size } from "../../../core/test/size.ts"
import type { Ttl } from "../wire.ts"
import { LOOK_BACK, PromptCache, TTL_MS } from "./prompt-cache.ts"

const MINUTE = 60_000
const TOKENS = 100 // for every item
const MINIMUM = 300

interface Step {
  readonly minutes: number
  readonly letters: readonly string[]
  /** Breakpoints and their lifetimes by position. 1h comes before 5m, as the API demands. */
  readonly breakpoints: ReadonlyMap<number, Ttl>
}

const step: fc.Arbitrary<Step> = fc
  .record({
    minutes: fc.nat({ max: 70 }),
    // common prefixes are long, so that there is something to find
    letters: fc.tuple(fc.nat({ max: 30 }), fc.array(fc.constantFrom("x", "y"), { maxLength: 4 })),
    places: fc.uniqueArray(fc.nat({ max: 33 }), { maxLength: 4 }),
    hours: fc.nat({ max: 4 }),
  })
  .map(({ minutes, letters: [shared, own], places, hours }) => {
    const letters = [...Array.from({ length: shared }, () => "a"), ...own]
    const inOrder = places.filter((place) => place < letters.length).sort((a, b) => a - b)
    return {
      minutes,
      letters,
      breakpoints: new Map(inOrder.map((place, index) => [place, index < hours ? "1h" : "5m"])),
    }
  })

class PlainModel {
  private written: { text: string; ttl: Ttl; expires: number }[] = []

  send({ letters, breakpoints }: Step, now: number): number {
    const textTo = (place: number) => letters.slice(0, place + 1).join("")
    const places = [...breakpoints.keys()].filter((place) => (place + 1) * TOKENS >= MINIMUM)
    const seen = places.flatMap((place) => Array.from({ length: LOOK_BACK }, (_, back) => place - back))
    const live = this.written.filter(({ expires }) => expires > now)
    const hits = seen.filter((place) => place >= 0 && live.some(({ text }) => text === textTo(place)))
    const hit = Math.max(-1, ...hits)
    for (const place of new Set(hit < 0 ? places : [hit, ...places])) {
      const text = textTo(place)
      const old = live.find((entry) => entry.text === text)
      const ttl = old?.ttl === "1h" ? "1h" : (breakpoints.get(place) ?? old?.ttl ?? "5m")
      this.written = [...this.written.filter((entry) => entry.text !== text), { text, ttl, expires: now + TTL_MS[ttl] }]
    }
    return (hit + 1) * TOKENS
  }
}

test("BEY-8 the prompt cache reads what the plain model reads, for any requests at any time", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
      const cache = new PromptCache()
      const model = new PlainModel()
      let now = 0
      for (const sent of steps) {
        now += sent.minutes * MINUTE
        const items = sent.letters.map((letter, place) => {
          const breakpoint = sent.breakpoints.get(place)
          return { hash: letter, tokens: TOKENS, ...(breakpoint && { breakpoint }) }
        })
        const outcome = cache.lookUp({ items, scope: "", minimum: MINIMUM, now })
        cache.commit(outcome)
        expect(outcome.read).toBe(model.send(sent, now))
        expect(outcome.read + outcome.write1h + outcome.write5m + outcome.uncached).toBe(items.length * TOKENS)
        expect(Math.min(outcome.write1h, outcome.write5m, outcome.uncached)).toBeGreaterThanOrEqual(0)
      }
    }),
    { numRuns: size(50, 500) },
  )
})
