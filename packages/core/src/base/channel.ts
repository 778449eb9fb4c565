/** Merges events of several concurrent sources into one stream, in order of arrival. */
export class Channel<T> {
  readonly #waiting: T[] = []
  #wake: (() => void) | undefined
  #ended = false

  push(value: T): void {
    this.#waiting.push(value)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#waiting.length > 0) yield this.#waiting.shift()!
      if (this.#ended) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
  }
}
