/** The replay's cache model compared with the simulator's: two programs without shared code must compute the same cost. */

import type { Block } from "@strata/core"
import fc from "fast-check"
import { expect, test } from "vitest"
import { size } from "../../../core/test/size.ts"
import { PromptCache } from "../../../sim/src/cache/prompt-cache.ts"
import { CacheModel, type PromptItem } from "../../src/replay/cache-model.ts"

const RUNS = size(60, 300)

interface Step {
  readonly model: string
  /** Tokens of each new block. */
  readonly adds: readonly number[]
  /** The earlier block that is cleared, as a share of the list. */
  readonly clears: number | undefined
  readonly waitMs: number
}

const step: fc.Arbitrary<Step> = fc.record({
  model: fc.constantFrom("a", "a", "a", "b"),
  adds: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 24 }),
  clears: fc.option(fc.double({ min: 0, max: 0.999, noNaN: true }), { nil: undefined, freq: 4 }),
  waitMs: fc.oneof(fc.constant(1_000), fc.integer({ min: 0, max: 400_000 })),
})

/** Cleared blocks never return here, so this does not test what the model remembers of them. */
test("CACHE-5 random requests that grow, change and wait cost what they cost in the simulator's cache", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), fc.integer({ min: 0, max: 3_000 }), (steps, minimum) => {
      const model = new CacheModel()
      const simulated = new PromptCache()
      let items: PromptItem[] = [{ tokens: 1_200 }]
      let now = 0
      for (const { model: name, adds, clears, waitMs } of steps) {
        now += waitMs
        const before = items.length
        if (clears !== undefined) items = cleared(items, Math.floor(clears * items.length))
        items = [...items, ...adds.map((tokens, i) => ({ block: text(`${items.length + i}`), tokens }))]
        const { cacheRead, cacheWrite5m, input } = model.send({ items, before, model: name, minimum, now })
        const outcome = simulated.lookUp({ items: prefixOf(items, before), scope: name, minimum, now })
        simulated.commit(outcome)
        expect([cacheRead, cacheWrite5m, input]).toEqual([outcome.read, outcome.write5m, outcome.uncached])
      }
    }),
    { numRuns: RUNS, seed: 1 },
  )
})

const text = (words: string): Block => ({ type: "text", text: words })

const cleared = (items: readonly PromptItem[], at: number): PromptItem[] =>
  items.map((item, i) => (i === at && item.block ? { ...item, tokens: 1, isCleared: true } : item))

const prefixOf = (items: readonly PromptItem[], before: number) =>
  items.map(({ block, tokens, isCleared }, i) => ({
    hash: JSON.stringify([block, isCleared]),
    tokens,
    ...(i === 0 || i === before - 1 || i === items.length - 1 ? { breakpoint: "5m" as const } : {}),
  }))
