import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  AuthenticationError,
  ConnectionLostError,
  InvalidModelRequestError,
  ModelAbortedError,
  OverloadedError,
  PromptTooLongError,
  RateLimitedError,
} from "./errors.ts"
import type { ModelEvent } from "./model.ts"
import { planRetry, type RetryOptions, withRetries } from "./stream.ts"

const provider = "anthropic"
const overloaded = new OverloadedError({ provider, status: 529 })
const plan = (error: unknown, attempt = 1, options: RetryOptions & { waitedMs?: number } = {}) =>
  planRetry({ error, attempt, waitedMs: options.waitedMs ?? 0 }, { random: () => 0, ...options })

describe("LOOP-5 the policy", () => {
  test("what passes is tried again, later each time, up to half a minute", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((attempt) => plan(overloaded, attempt))
    expect(delays.map((next) => (next.step === "retry" ? next.delayMs : "none"))).toEqual([
      500, 1000, 2000, 4000, 8000, 16_000, 30_000,
    ])
    expect(plan(overloaded)).toMatchObject({ reason: "overloaded (529)" })
  })

  test.each([
    new AuthenticationError({ provider }),
    new InvalidModelRequestError({ provider }),
    new PromptTooLongError({}, { provider }),
    new ModelAbortedError(provider),
    new OverloadedError({ provider, forbidsRetry: true }),
    new TypeError("x is not a function"),
  ])("what does not is not: %s", (error) => {
    expect(plan(error)).toEqual({ step: "give-up" })
  })

  test("retry-after is honoured, never undercut, and not waited for where it is too long", () => {
    const limited = (retryAfterMs: number) => new RateLimitedError({ provider, retryAfterMs })
    expect(plan(limited(20_000))).toMatchObject({ delayMs: 20_000 })
    expect(plan(limited(20_000), 1, { random: () => 0.99 })).toMatchObject({ delayMs: 20_124 })
    expect(plan(limited(3_600_000))).toEqual({ step: "give-up" })
  })

  test("there is an end to attempts and to waiting", () => {
    expect(plan(overloaded, 3, { maxAttempts: 3 })).toEqual({ step: "give-up" })
    expect(plan(overloaded, 2, { maxWaitMs: 1400, waitedMs: 500 })).toEqual({ step: "give-up" })
    expect(plan(overloaded, 2, { maxWaitMs: 1500, waitedMs: 500 })).toMatchObject({ delayMs: 1000 })
  })

  test("a delay is never longer than the time left, nor shorter than three quarters of its step", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 0, max: 300_000 }),
        (attempt, chance, waitedMs) => {
          const next = plan(overloaded, attempt, { maxAttempts: 100, random: () => chance, waitedMs })
          if (next.step === "give-up") return
          expect(next.delayMs + waitedMs).toBeLessThanOrEqual(300_000)
          expect(next.delayMs).toBeGreaterThanOrEqual(0.75 * Math.min(500 * 2 ** (attempt - 1), 30_000) - 1)
        },
      ),
    )
  })
})

describe("LOOP-5 the driver", () => {
  /** Fails with each of the errors in turn, then succeeds. */
  const failing = (...errors: Error[]) => {
    const left = [...errors]
    return async function* (): AsyncGenerator<ModelEvent> {
      yield { type: "text", text: "a" }
      const error = left.shift()
      if (error) throw error
    }
  }
  const collect = async (events: AsyncIterable<ModelEvent>) => {
    const seen: string[] = []
    for await (const event of events)
      seen.push(event.type === "retry" ? `retry ${event.attempt}: ${event.reason}` : event.type)
    return seen
  }

  test("each further attempt is announced", async () => {
    const waited: number[] = []
    const delay = async (ms: number) => void waited.push(ms)
    const attempt = failing(overloaded, new ConnectionLostError({ provider, providerMessage: "terminated" }))
    const events = withRetries({ provider, attempt, delay, random: () => 0 })
    expect(await collect(events)).toEqual([
      "text",
      "retry 1: overloaded (529)",
      "text",
      "retry 2: connection lost: terminated",
      "text",
    ])
    expect(waited).toEqual([500, 1000])
  })

  test("the last error is thrown as it is", async () => {
    const refused = new InvalidModelRequestError({ provider })
    const events = withRetries({ provider, attempt: failing(overloaded, refused), delay: async () => {} })
    await expect(collect(events)).rejects.toBe(refused)
  })

  test("stopping during the wait ends it at once, with the real clock", async () => {
    const stop = new AbortController()
    const limited = new RateLimitedError({ provider, retryAfterMs: 200_000 })
    const events = withRetries({ provider, attempt: failing(limited), signal: stop.signal })
    const seen: string[] = []
    const consume = async () => {
      for await (const event of events) {
        seen.push(event.type)
        if (event.type === "retry") setImmediate(() => stop.abort())
      }
    }
    await expect(consume()).rejects.toBeInstanceOf(ModelAbortedError)
    expect(seen).toEqual(["text", "retry"])
  })

  test("what was stopped before is not begun", async () => {
    const events = withRetries({ provider, attempt: failing(), signal: AbortSignal.abort() })
    await expect(collect(events)).rejects.toBeInstanceOf(ModelAbortedError)
  })
})
