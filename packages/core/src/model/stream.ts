/**
 * Reads a provider's stream under limits of time and size. A stream that stalls or does not end is closed, and its reader gets an error
 * that says what had arrived. Time that the reader takes between two pieces does not count.
 */

import { setTimeout } from "node:timers/promises"
import { type Clock, callAfter, systemClock } from "../base/clock.ts"
import type { Flags } from "../settings/flags.ts"
import {
  ConnectionLostError,
  EndlessAnswerError,
  ModelAbortedError,
  type Stall,
  StalledError,
  TransientModelError,
} from "./errors.ts"
import type { AttemptObserver, ModelEvent, StreamLimits } from "./model.ts"

// How long a model may take and how much it may send. Without these limits a stream that stalls, or never ends, would hold a
// conversation for ever.

export const DEFAULT_LIMITS: StreamLimits = {
  firstTokenMs: 240_000, // a prompt of a million tokens takes the server more than a minute
  idleMs: 90_000, // the API sends a ping several times a minute
  stallMs: 300_000, // hidden thinking sends pings only
  responseMs: 7_200_000, // the longest answer, 128,000 tokens, takes about an hour
}

/** The limits that settings and flags give. */
export function streamLimits({ figures }: Pick<Flags, "figures">): StreamLimits {
  return {
    firstTokenMs: figures["first-token-timeout"] * 1_000,
    idleMs: figures["stream-idle"] * 1_000,
    stallMs: figures["stream-stall"] * 1_000,
    responseMs: figures["response-timeout"] * 60_000,
  }
}

/** How much one answer may send. */
export interface ResponseSize {
  readonly characters: number
  readonly blocks: number
  /** Bytes of the stream since its last piece of content. */
  readonly emptyBytes: number
}

const CHARACTERS_PER_TOKEN = 32 // prose has 3 to 5; runs of spaces have most
const MIN_CHARACTERS = 100_000 // servers that round a small limit up are not cut
const MAX_CHARACTERS = 16_000_000
const MAX_BLOCKS = 5_000
const MAX_EMPTY_BYTES = 8 * 1024 * 1024 // a block with a fetched document can have megabytes
const STORED_CHARACTERS_PER_TOKEN = 4 // of an endless answer: what a full answer of ordinary text has

export const sizeLimit = (maxTokens: number): ResponseSize => ({
  characters: Math.min(MAX_CHARACTERS, Math.max(MIN_CHARACTERS, maxTokens * CHARACTERS_PER_TOKEN)),
  blocks: MAX_BLOCKS,
  emptyBytes: MAX_EMPTY_BYTES,
})

/** How much of an answer that did not end is kept, in characters. More would fill the next request. */
export const maxStoredCharacters = (maxTokens: number): number => maxTokens * STORED_CHARACTERS_PER_TOKEN

const CLOSING_MS = 5_000 // for the end of a stream whose answer is complete
const RECHECK_MS = 5_000 // while the reader is busy

/** What an event adds to the answer. */
export interface StreamChunk {
  /** Characters of text, thinking or tool input. */
  readonly characters?: number
  readonly beginsBlock?: boolean
  /** The answer is complete; only the stream's own end is missing. */
  readonly isLast?: boolean
}

export interface WatchStreamOptions<T> {
  readonly provider: string
  readonly attempts: number
  readonly maxTokens: number
  /** Starts the stream. Call `onBytes` for everything that arrives, also signs of life, where the transport shows it. */
  open(signal: AbortSignal, onBytes: (count: number) => void): Promise<AsyncIterable<T>>
  /** `undefined`: nothing new for the answer. */
  measure(event: T): StreamChunk | undefined
  readonly limits?: Partial<StreamLimits> | undefined
  readonly clock?: Clock | undefined
  readonly signal?: AbortSignal | undefined
}

export async function* watchStream<T>(stream: WatchStreamOptions<T>): AsyncGenerator<T> {
  const { provider, measure } = stream
  const cut = new AbortController()
  const signal = stream.signal ? AbortSignal.any([stream.signal, cut.signal]) : cut.signal
  const watch = new StreamWatch(stream, () => cut.abort())
  let isWhole = false
  try {
    const events = await unlessAborted(
      stream.open(signal, (count) => watch.arrived(count)),
      signal,
    )
    if (events !== undefined) {
      for await (const event of untilAborted(events, signal)) {
        watch.take(measure(event))
        if (watch.failure) break
        watch.pause()
        yield event
        watch.resume()
      }
    }
    isWhole = !signal.aborted
  } catch (error) {
    if (stream.signal?.aborted) throw new ModelAbortedError(provider)
    if (watch.isComplete) return // the connection broke after the last piece
    throw watch.failure ?? error
  } finally {
    watch.stop()
    if (!isWhole) cut.abort()
  }
  if (stream.signal?.aborted) throw new ModelAbortedError(provider)
  if (watch.failure && !watch.isComplete) throw watch.failure
}

class StreamWatch {
  failure: StalledError | EndlessAnswerError | undefined
  isComplete = false
  readonly #stream: Pick<WatchStreamOptions<never>, "provider" | "attempts">
  readonly #limits: StreamLimits
  readonly #max: ResponseSize
  readonly #clock: Clock
  readonly #onTrouble: () => void
  readonly #began: number
  #characters = 0
  #blocks = 0
  #emptyBytes = 0
  /** When the transport last showed bytes; `undefined` while it has shown none. */
  #lastByte: number | undefined
  #lastPiece: number
  #hasBegun = false
  #isPaused = false
  #cancel: () => void = () => undefined

  constructor(stream: Omit<WatchStreamOptions<never>, "open" | "measure">, onTrouble: () => void) {
    this.#stream = stream
    this.#limits = { ...DEFAULT_LIMITS, ...stream.limits }
    this.#max = sizeLimit(stream.maxTokens)
    this.#clock = stream.clock ?? systemClock
    this.#onTrouble = onTrouble
    this.#began = this.#now()
    this.#lastPiece = this.#began
    this.#arm()
  }

  arrived(bytes: number): void {
    const isFirst = this.#lastByte === undefined
    this.#lastByte = this.#now()
    if (isFirst) this.#arm()
    this.#emptyBytes += bytes
    const { emptyBytes } = this.#max
    if (this.#emptyBytes > emptyBytes) this.#endless({ kind: "empty", count: this.#emptyBytes, limit: emptyBytes })
  }

  take(piece: StreamChunk | undefined): void {
    const isFirst = !this.#hasBegun
    this.#hasBegun = true
    if (isFirst || piece !== undefined) this.#lastPiece = this.#now()
    if (isFirst) this.#arm() // another limit applies from here on
    if (piece === undefined) return
    const { characters = 0, beginsBlock = false, isLast = false } = piece
    this.#emptyBytes = 0
    this.#characters += characters
    if (beginsBlock) this.#blocks++
    if (isLast) this.#complete()
    const { characters: maxCharacters, blocks } = this.#max
    if (this.#characters > maxCharacters)
      this.#endless({ kind: "characters", count: this.#characters, limit: maxCharacters })
    else if (this.#blocks > blocks) this.#endless({ kind: "blocks", count: this.#blocks, limit: blocks })
  }

  pause(): void {
    this.#isPaused = true
  }

  /** What arrived while the reader was busy has waited for it. */
  resume(): void {
    this.#isPaused = false
    this.#lastPiece = this.#now()
    if (this.#lastByte !== undefined) this.#lastByte = this.#lastPiece
  }

  stop(): void {
    this.#cancel()
  }

  #complete(): void {
    this.isComplete = true
    this.#arm()
  }

  /** One timer for the next deadline. When it fires, later arrivals may have moved that deadline. */
  #arm(): void {
    this.#cancel()
    const ms = this.#isPaused ? RECHECK_MS : Math.max(0, this.#deadline().at - this.#now())
    this.#cancel = callAfter(this.#clock, ms, () => this.#check())
  }

  #check(): void {
    const { at, failure } = this.#deadline()
    if (!this.#isPaused && this.#now() >= at) this.#fail(failure())
    else this.#arm()
  }

  #deadline(): { readonly at: number; readonly failure: () => StalledError | EndlessAnswerError } {
    const { firstTokenMs, idleMs, stallMs, responseMs } = this.#limits
    if (this.isComplete) return this.#stalled("idle", this.#lastPiece, CLOSING_MS)
    const waits = [
      this.#hasBegun
        ? this.#stalled("no-content", this.#lastPiece, stallMs)
        : this.#stalled("no-answer", this.#began, firstTokenMs),
      ...(this.#lastByte === undefined ? [] : [this.#stalled("idle", this.#lastByte, idleMs)]),
      {
        at: this.#began + responseMs,
        trouble: () => this.#endlessError({ kind: "time", count: responseMs, limit: responseMs }),
      },
    ]
    return waits.reduce((first, next) => (next.at < first.at ? next : first))
  }

  #stalled(stall: Stall, since: number, ms: number) {
    const { provider, attempts } = this.#stream
    const characters = this.#characters
    return { at: since + ms, failure: () => new StalledError({ stall, ms, characters }, { provider, attempts }) }
  }

  #endless(size: ConstructorParameters<typeof EndlessAnswerError>[0]): void {
    this.#fail(this.#endlessError(size))
  }

  #endlessError(size: ConstructorParameters<typeof EndlessAnswerError>[0]): EndlessAnswerError {
    const { provider, attempts } = this.#stream
    return new EndlessAnswerError(size, { provider, attempts })
  }

  #fail(failure: StalledError | EndlessAnswerError): void {
    this.failure ??= failure
    this.#cancel()
    this.#onTrouble()
  }

  #now(): number {
    return this.#clock.now().getTime()
  }
}

/** `undefined` if the signal comes first, also where the work ignores it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined)
    signal.addEventListener("abort", stop, { once: true })
    if (signal.aborted) stop()
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop))
  })
}

/** Ends with the signal, also where the source ignores it. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), signal)
      if (next === undefined || next.done) return
      yield next.value
    }
  } finally {
    void iterator.return?.().catch(() => undefined) // not awaited: a source that hangs would hold us too
  }
}

// Retries failures that pass, visibly. `planRetry` is the policy, a pure function; `withRetries` carries it out. Randomness and waiting are
// arguments, so tests neither wait nor guess.

const MAX_ATTEMPTS = 8 // together about a minute of waiting, which outlasts most overloads
const MAX_WAIT_MS = 5 * 60_000 // in all; a person at a terminal has given up by then
const MAX_STALLS = 3 // each has taken minutes already
const MAX_UNREACHED = 4 // attempts, in about four seconds: enough for a server that starts again
const MAX_TOTAL_MS = 30 * 60_000 // no attempt begins after this time
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
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
  if (!(error instanceof TransientModelError) || error.forbidsRetry || attempt >= maxAttempts) return GIVE_UP
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

const backoff = (attempt: number) => Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS)

export interface RetryableWork extends RetryOptions {
  readonly provider: string
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
  readonly attempts?: AttemptObserver | undefined
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
}: RetryableWork): AsyncGenerator<ModelEvent> {
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
