/**
 * Reads a provider's stream within limits of time and size. A stream that stalls or does not end is closed, and its reader gets an error
 * that states how much had arrived. Time that the reader takes between two events is not counted. Also retries transient failures.
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

// Time and size limits of a response. Without them a stream that stalls, or never ends, would block a conversation forever.

export const DEFAULT_LIMITS: StreamLimits = {
  firstTokenMs: 240_000, // the server needs more than a minute for a prompt of a million tokens
  idleMs: 90_000, // the API sends a ping several times a minute
  stallMs: 300_000, // during hidden thinking, only pings arrive
  responseMs: 7_200_000, // the longest answer, 128,000 tokens, takes about an hour
}

/** The time limits from settings and flags. */
export function streamLimits({ figures }: Pick<Flags, "figures">): StreamLimits {
  return {
    firstTokenMs: figures["first-token-timeout"] * 1_000,
    idleMs: figures["stream-idle"] * 1_000,
    stallMs: figures["stream-stall"] * 1_000,
    responseMs: figures["response-timeout"] * 60_000,
  }
}

/** Size limits of a response. */
export interface ResponseSize {
  readonly characters: number
  readonly blocks: number
  /** Bytes of the stream since its last content. */
  readonly emptyBytes: number
}

const CHARACTERS_PER_TOKEN = 32 // prose has 3 to 5; runs of spaces have the most
const MIN_CHARACTERS = 100_000 // for servers that round a small limit up
const MAX_CHARACTERS = 16_000_000
const MAX_BLOCKS = 5_000
const MAX_EMPTY_BYTES = 8 * 1024 * 1024 // a block with a fetched document can have several megabytes
const STORED_CHARACTERS_PER_TOKEN = 4 // of an endless response, as in a full response of ordinary text

export const sizeLimit = (maxTokens: number): ResponseSize => ({
  characters: Math.min(MAX_CHARACTERS, Math.max(MIN_CHARACTERS, maxTokens * CHARACTERS_PER_TOKEN)),
  blocks: MAX_BLOCKS,
  emptyBytes: MAX_EMPTY_BYTES,
})

/** How many characters of an endless response are stored. More would fill the next request. */
export const maxStoredCharacters = (maxTokens: number): number => maxTokens * STORED_CHARACTERS_PER_TOKEN

const CLOSING_MS = 5_000 // for the end of the stream after a complete response
const RECHECK_MS = 5_000 // while the reader is busy

/** How much an event adds to the response. */
export interface StreamChunk {
  /** Characters of text, thinking or tool input. */
  readonly characters?: number
  readonly beginsBlock?: boolean
  /** The response is complete; only the end of the stream is missing. */
  readonly isLast?: boolean
}

export interface WatchStreamOptions<T> {
  readonly provider: string
  readonly attempts: number
  readonly maxTokens: number
  /** Starts the stream. Call `onBytes` for everything that arrives, including pings, if the transport exposes it. */
  open(signal: AbortSignal, onBytes: (count: number) => void): Promise<AsyncIterable<T>>
  /** Returns `undefined` if the event adds nothing. */
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
    if (watch.isComplete) return // the connection broke after the last event
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
  /** When bytes last arrived. `undefined` before the first bytes. */
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
    if (isFirst) this.#arm() // from here on, another limit applies
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

  /** Restarts the silence limits, because arrived data waited for the reader. */
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

  /** Uses one timer for the next deadline. Later arrivals may move the deadline before it fires. */
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
        failure: () => this.#endlessError({ kind: "time", count: responseMs, limit: responseMs }),
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

/** Resolves with `undefined` if the signal aborts first, even if the work ignores it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined)
    signal.addEventListener("abort", stop, { once: true })
    if (signal.aborted) stop()
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop))
  })
}

/** Ends on abort, even if the source ignores the signal. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), signal)
      if (next === undefined || next.done) return
      yield next.value
    }
  } finally {
    void iterator.return?.().catch(() => undefined) // not awaited, because a source that hangs would block here too
  }
}

// Retries transient failures and reports each retry. `planRetry` is the policy, a pure function; `withRetries` carries it out. Randomness
// and waiting are arguments, so tests neither wait nor depend on chance.

const MAX_ATTEMPTS = 8 // about a minute of waiting in total, which outlasts most overloads
const MAX_WAIT_MS = 5 * 60_000 // in total; a user at a terminal has given up by then
const MAX_STALLS = 3 // each takes minutes
const MAX_UNREACHED = 4 // attempts within about four seconds: enough for a server to restart
const MAX_TOTAL_MS = 30 * 60_000 // no attempt begins after this time
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
const JITTER = 0.25 // random share of a delay, so that clients do not retry simultaneously

export interface RetryOptions {
  /** Maximum attempts for one request. Default 8. */
  readonly maxAttempts?: number
  /** Maximum total wait for one request. Default 5 minutes. */
  readonly maxWaitMs?: number
  /** Returns a number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number
  /** Waits. Rejects at once when the signal is aborted. */
  readonly delay?: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
}

export interface FailedAttempt {
  readonly error: unknown
  /** Counted from 1. */
  readonly attempt: number
  /** How long this request has waited so far. */
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
  // at least as long as the provider asks; otherwise doubled each time
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
  /** Makes one attempt, counted from 1. Throws `ModelError`s. */
  attempt(number: number): AsyncIterable<ModelEvent>
}

/** Makes attempts until one succeeds or the policy gives up. Yields a `retry` event before each repetition. */
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
