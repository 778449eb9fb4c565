/**
 * Reads a provider's stream under limits of time and size. A stream that stalls or does not end is closed, and its reader gets an error
 * that says what had arrived. Time that the reader takes between two pieces does not count.
 */
import { type Clock, callAfter, systemClock } from "../base/clock.ts"
import { EndlessAnswerError, ModelAbortedError, type Stall, StalledError } from "./errors.ts"
import { type AnswerSize, DEFAULT_LIMITS, type StreamLimits, sizeLimit } from "./stream-limits.ts"

const CLOSING_MS = 5_000 // for the end of a stream whose answer is complete
const LOOK_AGAIN_MS = 5_000 // while the reader is busy

/** What an event adds to the answer. */
export interface Piece {
  /** Characters of text, thinking or tool input. */
  readonly characters?: number
  readonly beginsBlock?: boolean
  /** The answer is complete; only the stream's own end is missing. */
  readonly isLast?: boolean
}

export interface WatchedStream<T> {
  readonly provider: string
  readonly attempts: number
  readonly maxTokens: number
  /** Starts the stream. Call `onBytes` for everything that arrives, also signs of life, where the transport shows it. */
  open(signal: AbortSignal, onBytes: (count: number) => void): Promise<AsyncIterable<T>>
  /** `undefined`: nothing new for the answer. */
  measure(event: T): Piece | undefined
  readonly limits?: Partial<StreamLimits> | undefined
  readonly clock?: Clock | undefined
  readonly signal?: AbortSignal | undefined
}

export async function* watchedStream<T>(stream: WatchedStream<T>): AsyncGenerator<T> {
  const { provider, measure } = stream
  const cut = new AbortController()
  const signal = stream.signal ? AbortSignal.any([stream.signal, cut.signal]) : cut.signal
  const watch = new Watch(stream, () => cut.abort())
  let isWhole = false
  try {
    const events = await unlessAborted(
      stream.open(signal, (count) => watch.arrived(count)),
      signal,
    )
    if (events !== undefined) {
      for await (const event of untilAborted(events, signal)) {
        watch.take(measure(event))
        if (watch.trouble) break
        watch.pause()
        yield event
        watch.resume()
      }
    }
    isWhole = !signal.aborted
  } catch (error) {
    if (stream.signal?.aborted) throw new ModelAbortedError(provider)
    if (watch.isComplete) return // the connection broke after the last piece
    throw watch.trouble ?? error
  } finally {
    watch.stop()
    if (!isWhole) cut.abort()
  }
  if (stream.signal?.aborted) throw new ModelAbortedError(provider)
  if (watch.trouble && !watch.isComplete) throw watch.trouble
}

class Watch {
  trouble: StalledError | EndlessAnswerError | undefined
  isComplete = false
  readonly #stream: Pick<WatchedStream<never>, "provider" | "attempts">
  readonly #limits: StreamLimits
  readonly #most: AnswerSize
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

  constructor(stream: Omit<WatchedStream<never>, "open" | "measure">, onTrouble: () => void) {
    this.#stream = stream
    this.#limits = { ...DEFAULT_LIMITS, ...stream.limits }
    this.#most = sizeLimit(stream.maxTokens)
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
    const { emptyBytes } = this.#most
    if (this.#emptyBytes > emptyBytes) this.#endless({ what: "empty", count: this.#emptyBytes, limit: emptyBytes })
  }

  take(piece: Piece | undefined): void {
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
    const { characters: mostCharacters, blocks } = this.#most
    if (this.#characters > mostCharacters)
      this.#endless({ what: "characters", count: this.#characters, limit: mostCharacters })
    else if (this.#blocks > blocks) this.#endless({ what: "blocks", count: this.#blocks, limit: blocks })
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
    const ms = this.#isPaused ? LOOK_AGAIN_MS : Math.max(0, this.#deadline().at - this.#now())
    this.#cancel = callAfter(this.#clock, ms, () => this.#check())
  }

  #check(): void {
    const { at, trouble } = this.#deadline()
    if (!this.#isPaused && this.#now() >= at) this.#fail(trouble())
    else this.#arm()
  }

  #deadline(): { readonly at: number; readonly trouble: () => StalledError | EndlessAnswerError } {
    const { beginMs, idleMs, stallMs, answerMs } = this.#limits
    if (this.isComplete) return this.#stalled("idle", this.#lastPiece, CLOSING_MS)
    const waits = [
      this.#hasBegun
        ? this.#stalled("no-content", this.#lastPiece, stallMs)
        : this.#stalled("no-answer", this.#began, beginMs),
      ...(this.#lastByte === undefined ? [] : [this.#stalled("idle", this.#lastByte, idleMs)]),
      {
        at: this.#began + answerMs,
        trouble: () => this.#endlessError({ what: "time", count: answerMs, limit: answerMs }),
      },
    ]
    return waits.reduce((first, next) => (next.at < first.at ? next : first))
  }

  #stalled(stall: Stall, since: number, ms: number) {
    const { provider, attempts } = this.#stream
    const characters = this.#characters
    return { at: since + ms, trouble: () => new StalledError({ stall, ms, characters }, { provider, attempts }) }
  }

  #endless(size: ConstructorParameters<typeof EndlessAnswerError>[0]): void {
    this.#fail(this.#endlessError(size))
  }

  #endlessError(size: ConstructorParameters<typeof EndlessAnswerError>[0]): EndlessAnswerError {
    const { provider, attempts } = this.#stream
    return new EndlessAnswerError(size, { provider, attempts })
  }

  #fail(trouble: StalledError | EndlessAnswerError): void {
    this.trouble ??= trouble
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
