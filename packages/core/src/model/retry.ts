/**
 * Retries failures that pass, visibly. `planRetry` is the policy, a pure function; `withRetries` carries it out. Randomness and waiting are
 * arguments, so tests neither wait nor guess.
 */
import { setTimeout } from "node:timers/promises"
import { type Clock, systemClock } from "../base/clock.ts"
import { ConnectionLostError, ModelAbortedError, PassingModelError, StalledError } from "./errors.ts"
import type { AttemptWatch, ModelEvent } from "./model.ts"

const MAX_ATTEMPTS = 8 // together about a minute of waiting, which outlasts most overloads
const MAX_WAIT_MS = 5 * 60_000 // in all; a person at a terminal has given up by then
const MAX_STALLS = 3 // each has taken minutes already
const MAX_UNREACHED = 4 // attempts, in about four seconds: enough for a server that starts again
const MAX_TOTAL_MS = 30 * 60_000 // no attempt begins after this time
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000
const JITTER = 0.25 // random share of a delay, so that clients do not come back all at once

export interface RetryOptions {
  /** The most attempts for one request. Default 8. */
  readonly maxAttempts?: number
  /** The longest total wait for one request. Default 5 minutes. */
  readonly maxWaitMs?: number
  /** In [0, 1). Default: `Math.random`. */
  readonly random?: () => number
  /** Waits; rejects at once when the signal is aborted. */
  readonly delay?: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
}

export interface FailedAttempt {
  readonly error: unknown
  /** Counted from 1. */
  readonly attempt: number
  /** How long this request has waited already. */
  readonly waitedMs: number
  /** How many attempts stalled, including this one. Default 0. */
  readonly stalls?: number
  /** Time since the first attempt began. Default 0. */
  readonly elapsedMs?: number
}

export type RetryPlan =
  | { readonly step: "retry"; readonly delayMs: number; readonly reason: string }
  | { readonly step: "give-up" }

const GIVE_UP: RetryPlan = { step: "give-up" }

export function planRetry(
  { error, attempt, waitedMs, stalls = 0, elapsedMs = 0 }: FailedAttempt,
  { maxAttempts = MAX_ATTEMPTS, maxWaitMs = MAX_WAIT_MS, random = Math.random }: RetryOptions = {},
): RetryPlan {
  if (!(error instanceof PassingModelError) || error.forbidsRetry || attempt >= maxAttempts) return GIVE_UP
  if (error instanceof ConnectionLostError && error.isUnreachable && attempt >= MAX_UNREACHED) return GIVE_UP
  if (stalls >= MAX_STALLS || elapsedMs >= MAX_TOTAL_MS) return GIVE_UP
  const { retryAfterMs } = error
  const jitter = random() * JITTER
  // at least as long as the provider asks; otherwise twice as long each time
  const delayMs = Math.round(
    retryAfterMs === undefined ? backoff(attempt) * (1 - jitter) : retryAfterMs + FIRST_DELAY_MS * jitter,
  )
  return waitedMs + delayMs > maxWaitMs ? GIVE_UP : { step: "retry", delayMs, reason: error.reason }
}

const backoff = (attempt: number) => Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_DELAY_MS)

export interface RetriedWork extends RetryOptions {
  readonly provider: string
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
  readonly attempts?: AttemptWatch | undefined
  /** One attempt, counted from 1. Throws `ModelError`s. */
  attempt(number: number): AsyncIterable<ModelEvent>
}

/** Makes attempts until one succeeds or the policy gives up. A `retry` event comes before each further one. */
export async function* withRetries({
  attempt,
  provider,
  signal,
  attempts,
  ...options
}: RetriedWork): AsyncGenerator<ModelEvent> {
  const { delay = wait, clock = systemClock } = options
  const began = clock.now().getTime()
  let waitedMs = 0
  let stalls = 0
  for (let number = 1; ; number++) {
    if (signal?.aborted) throw new ModelAbortedError(provider)
    attempts?.sending()
    try {
      return yield* attempt(number)
    } catch (error) {
      attempts?.failed(error)
      if (error instanceof StalledError) stalls++
      const elapsedMs = clock.now().getTime() - began
      const plan = planRetry({ error, attempt: number, waitedMs, stalls, elapsedMs }, options)
      if (plan.step === "give-up") throw error
      const { delayMs, reason } = plan
      yield { type: "retry", attempt: number, delayMs, reason }
      waitedMs += delayMs
      await delay(delayMs, signal).catch((interruption: unknown) => {
        if (!signal?.aborted) throw interruption
      })
    }
  }
}

const wait = (ms: number, signal: AbortSignal | undefined) =>
  setTimeout(ms, undefined, signal === undefined ? {} : { signal })
