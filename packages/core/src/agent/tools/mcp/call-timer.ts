/**
 * The time limit of one call. Progress restarts it. It is paused while the user answers a question of the server, and restarts after the
 * answer.
 */

const MAX_CALL_FACTOR = 10 // even with progress, a call ends after this many timeouts

export class CallTimer {
  readonly #timeoutMs: number
  readonly #abort = new AbortController()
  #step: NodeJS.Timeout | undefined
  #whole: NodeJS.Timeout | undefined
  #questions = 0

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#start()
  }

  /** Aborts after the time limit. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  progressed(): void {
    if (this.#step === undefined) return
    clearTimeout(this.#step)
    this.#step = setTimeout(this.#end, this.#timeoutMs)
  }

  pause(): void {
    this.#questions++
    this.stop()
  }

  resume(): void {
    if (--this.#questions === 0) this.#start()
  }

  stop(): void {
    clearTimeout(this.#step)
    clearTimeout(this.#whole)
    this.#step = undefined
  }

  #start(): void {
    this.#step = setTimeout(this.#end, this.#timeoutMs)
    this.#whole = setTimeout(this.#end, MAX_CALL_FACTOR * this.#timeoutMs)
  }

  readonly #end = (): void => {
    this.stop()
    this.#abort.abort()
  }
}
