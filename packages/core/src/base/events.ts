/** Typed events. An error thrown by a listener never reaches the emitter; it surfaces as an uncaught error of its own. */
export class Events<M extends object> {
  readonly #listeners = new Map<keyof M, Set<(event: never) => void>>()

  /** Returns a function that stops listening. */
  on<K extends keyof M>(name: K, listener: (event: M[K]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  emit<K extends keyof M>(name: K, event: M[K]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as (event: M[K]) => void)(event)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
}
