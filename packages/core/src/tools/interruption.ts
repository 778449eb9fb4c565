/** Waits for something that cannot be interrupted itself, such as a person. */

export type Waited<T> = { readonly state: "settled"; readonly value: T } | { readonly state: "interrupted" }

/** On abort the work continues, but its result is no longer awaited. */
export function unlessInterrupted<T>(signal: AbortSignal, promise: Promise<T>): Promise<Waited<T>> {
  const { promise: interruption, resolve } = Promise.withResolvers<Waited<T>>()
  const onAbort = () => resolve({ state: "interrupted" })
  if (signal.aborted) onAbort()
  signal.addEventListener("abort", onAbort, { once: true })
  const settled = promise.then((value): Waited<T> => ({ state: "settled", value }))
  return Promise.race([interruption, settled]).finally(() => signal.removeEventListener("abort", onAbort))
}
