/** BEY-4: how long the cache is kept warm in a pause depends on the pauses of the conversation, and the account limits the cost. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../../test/size.ts"
import { NO_TOKENS, type TokenCounts, weighCounts } from "../../base/text.ts"
import type { Entry } from "../../journal/entries.ts"
import type { Usage } from "../../messages/messages.ts"
import { createFlags } from "../../settings/flags.ts"
import { DEFAULT_SETTINGS } from "../../settings/settings.ts"
import { findModel } from "../../tokens/models.ts"
import type { PausePrior } from "../../views/cache/pauses.ts"
import { Views } from "../../views/views.ts"
import type { LayerContext } from "../layer.ts"
import { dueAfterMs, nextPing, pausePlan } from "./lifetime.ts"

const MINUTE = 60_000
const MODEL = "claude-opus-4-6" // a read costs a tenth of input
const { facts } = findModel(MODEL)
const WEIGHTS = { input: 1, cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2, output: 5 }
const PROMPT = 20_000 // tokens of the context
const FREE = 0.2 * 1.15 // of the context: what may be spent before anything was saved, for someone who usually comes back
const pause = (count: number) => ({ count, tokens: count * 50_000 })
const RETURNS = {
  earlier: { conversations: 5, withinHour: pause(5), beyondHour: pause(0), grown: 250_000 },
} satisfies PausePrior

/** A conversation with a user who pauses, and its cost. There is no server: the cache follows the rules. */
class Talk {
  readonly views = new Views({ family: facts.family })
  readonly #cacheLifetime: "auto" | "5m" | "prompt-1h"
  #now = Date.parse("2026-11-15T12:00:00.000Z")
  #sentAt = 0
  #context = 0
  #ids = 0
  /** Whether the server forgets everything after five minutes. */
  forgets = false
  model = MODEL
  cost = 0
  /** The cost without requests that keep the cache warm. */
  letGo = 0
  pings = 0

  readonly #prior: PausePrior

  constructor(cacheLifetime: "auto" | "5m" | "prompt-1h" = "auto", prior: PausePrior = RETURNS) {
    this.#cacheLifetime = cacheLifetime
    this.#prior = prior
  }

  get context(): LayerContext {
    const size = { tokens: this.#context }
    const flags = createFlags({ settings: { ...DEFAULT_SETTINGS, cacheLifetime: this.#cacheLifetime } }).current
    const prior = this.#prior
    return { views: this.views, flags, facts, model: MODEL, size, fill: { used: this.#context }, prior } as LayerContext
  }

  /** The user comes back after so many minutes, with a message of so many tokens. */
  turn(minutes: number, tokens: number): void {
    const back = this.#now + minutes * MINUTE
    const kept = this.#context > 0 && this.#keepWarm(back)
    this.#now = back
    this.#apply({ type: "user", message: { role: "user", content: "Go on." } })
    const before = this.#context
    this.#context += tokens
    const warm = { ...NO_TOKENS, cacheRead: before, cacheWrite5m: tokens, output: 100 }
    const forHour = this.#cacheLifetime === "prompt-1h" ? PROMPT : 0
    const cold = { ...NO_TOKENS, cacheWrite5m: this.#context - forHour, cacheWrite1h: forHour, output: 100 }
    const counts = before > 0 && kept ? warm : cold
    this.cost += weighCounts(counts, WEIGHTS)
    this.letGo += weighCounts(before > 0 && minutes <= 5 ? warm : cold, WEIGHTS)
    const content = [{ type: "text", text: "Done." }]
    this.#apply({
      type: "assistant",
      message: { role: "assistant", model: this.model, content, usage: usageOf(counts) },
    })
    this.#sentAt = this.#now
  }

  /** Whether the cache still exists. */
  #keepWarm(back: number): boolean {
    let until = this.#sentAt + 5 * MINUTE
    let due = this.#sentAt + dueAfterMs("5m")
    for (let sent = 0; due < back; sent++) {
      const lifetime = nextPing(this.context, sent)
      if (!lifetime) break
      this.#now = due
      const counts = { ...NO_TOKENS, cacheRead: this.#context }
      this.cost += weighCounts(counts, WEIGHTS)
      this.pings++
      const spent = { purpose: "keep-warm", model: MODEL, responseId: `p${this.#ids}`, lifetime } as const
      this.#apply({ type: "strata", subtype: "spent", ...spent, usage: usageOf(counts) })
      until = due + (lifetime === "1h" ? 60 : 5) * MINUTE
      due += dueAfterMs(lifetime)
    }
    return until >= back && !this.forgets
  }

  #apply(draft: object): void {
    const id = `${++this.#ids}`
    const parentUuid = this.views.context.newest?.uuid ?? null
    this.views.apply({ ...draft, uuid: id, parentUuid, timestamp: new Date(this.#now).toISOString() } as Entry)
  }
}

function usageOf({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts): Usage {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
  }
}

/** The plan after these pauses, in a conversation of 50,000 tokens. */
function planAfter(pauses: readonly number[], cacheLifetime?: "5m" | "prompt-1h") {
  const talk = new Talk(cacheLifetime)
  talk.turn(0, 50_000)
  for (const minutes of pauses) talk.turn(minutes, 100)
  return { ...pausePlan(talk.context), spent: talk.pings }
}

describe("BEY-4 in a pause the cache is kept warm", () => {
  test("once for an hour where nothing is known yet, and for five minutes as often as pays where that is set", () => {
    expect(planAfter([])).toMatchObject({ lifetime: "1h", pings: 1, minutes: 64.5 })
    expect(planAfter([], "5m")).toMatchObject({ lifetime: "5m", pings: 1 }) // three would pay, but the account allows two
    expect(planAfter([8, 8], "5m")).toMatchObject({ lifetime: "5m", pings: 3, minutes: 18.5 })
    expect(planAfter([8, 40, 41, 900, 900, 8, 900], "5m")).toMatchObject({ lifetime: "5m", pings: 1 })
  })

  test("not near the start for someone of whom nothing is known, because most conversations end soon", () => {
    const plansOf = (prior: PausePrior, turns: number) => {
      const talk = new Talk("auto", prior)
      talk.turn(0, 50_000)
      for (let turn = 0; turn < turns; turn++) talk.turn(0.1, 10)
      return pausePlan(talk.context).pings
    }
    expect(plansOf({}, 20)).toBe(0)
    expect(plansOf({}, 100)).toBe(1) // by then it is 1% of what the conversation has cost
    expect(plansOf({ earlier: { ...RETURNS.earlier, withinHour: pause(1) } }, 20)).toBe(0)
    expect(plansOf({ ...RETURNS, isProgram: true }, 20)).toBe(0)
    expect(plansOf(RETURNS, 0)).toBe(1)
  })

  test("also where the prompt is cached for an hour by the setting: what that costs is no guess of the planner", () => {
    expect(planAfter([8, 8], "prompt-1h")).toEqual(planAfter([8, 8], "5m"))
  })

  test("for as long as this person usually stays away, once that is known", () => {
    expect(planAfter([30, 100, 100, 100])).toMatchObject({ pings: 2, minutes: 118.5 })
    expect(planAfter([8, 8, 900, 8, 900, 8])).toMatchObject({ pings: 1 })
  })

  test.runIf(isWhole)(
    "not at all for someone who always comes back too late, also where few pauses are among the latest responses",
    () => {
      const talk = new Talk()
      talk.turn(0, 50_000)
      for (let day = 0; day < 12; day++) {
        talk.turn(900, 100)
        for (let answer = 0; answer < 40; answer++) talk.turn(0.1, 10)
      }
      expect(pausePlan(talk.context).pings).toBe(0)
      expect(talk.pings).toBeLessThanOrEqual(4)
    },
  )

  test("no longer for an hour once the server had forgotten it", () => {
    const talk = new Talk()
    talk.turn(0, 50_000)
    talk.turn(20, 100)
    expect(pausePlan(talk.context).lifetime).toBe("1h")
    talk.forgets = true
    talk.model = "claude-sonnet-4-6" // it has a cache of its own
    talk.turn(20, 100)
    expect(pausePlan(talk.context).lifetime).toBe("1h")
    talk.turn(20, 100)
    expect(pausePlan(talk.context).lifetime).toBe("5m")
  })

  test("a limited number of times where reading the cache costs next to nothing", () => {
    const talk = new Talk("5m")
    talk.turn(0, 50_000)
    for (let evening = 0; evening < 20; evening++) talk.turn(900, 100)
    for (const cacheRead of [0, 1e-12]) {
      const price = { ...facts.price!, cacheRead }
      const { pings } = pausePlan({ ...talk.context, facts: { ...facts, price } })
      expect(pings).toBeGreaterThan(0)
      expect(pings).toBeLessThanOrEqual(100)
    }
  })

  test("never for more than letting it go would have cost, but for 1% or a fifth of a new write", () => {
    const pause = fc.oneof(
      fc.double({ min: 0, max: 4, noNaN: true }),
      fc.double({ min: 4, max: 20, noNaN: true }),
      fc.double({ min: 20, max: 1_000, noNaN: true }),
    )
    const turns = fc.array(fc.tuple(pause, fc.integer({ min: 10, max: 3_000 })), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(
        fc.constantFrom("auto" as const, "5m" as const),
        fc.integer({ min: 20_000, max: 90_000 }),
        turns,
        (...given) => {
          const [lifetime, start, rounds] = given
          const talk = new Talk(lifetime)
          talk.turn(0, start)
          for (const [minutes, tokens] of rounds) talk.turn(minutes, tokens)
          const largest = start + rounds.reduce((sum, [, tokens]) => sum + tokens, 0)
          expect(talk.cost).toBeLessThanOrEqual(talk.letGo + Math.max(0.01 * talk.cost, FREE * largest))
        },
      ),
      { numRuns: 40 },
    )
  })
})
