/** Work that takes turns. */

/** Runs one piece of work after another, in the order they were asked for. A failure reaches its caller, not the next one. */
export class Queue {
  #last: Promise<void> = Promise.resolve()
  #unfinished = 0

  /** Whether everything asked for is over. */
  get isIdle(): boolean {
    return this.#unfinished === 0
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#unfinished++
    const run = this.#last.then(work)
    const over = () => void this.#unfinished--
    this.#last = run.then(over, over)
    return run
  }

  /** Resolves when everything asked for so far is over, however it ended. */
  settled(): Promise<void> {
    return this.#last
  }
}

/** A queue for each key, kept as long as it has work. */
export class Queues<K> {
  readonly #byKey = new Map<K, Queue>()

  run<T>(key: K, work: () => T | Promise<T>): Promise<T> {
    const queue = this.#byKey.get(key) ?? new Queue()
    this.#byKey.set(key, queue)
    const run = queue.run(work)
    void queue.settled().then(() => {
      if (queue.isIdle) this.#byKey.delete(key)
    })
    return run
  }

  /** Resolves when everything asked for so far is over, whatever its key. */
  async settled(): Promise<void> {
    await Promise.all([...this.#byKey.values()].map((queue) => queue.settled()))
  }
}
