/** Waiting for something that does not know about interruption itself, such as a person. */

export type Waited<T> = { readonly state: "settled"; readonly value: T } | { readonly state: "interrupted" }

/** What is waited for goes on when the signal comes; only nobody waits for it any more. */
export function unlessInterrupted<T>(signal: AbortSignal, promise: Promise<T>): Promise<Waited<T>> {
  const { promise: interruption, resolve } = Promise.withResolvers<Waited<T>>()
  const onAbort = () => resolve({ state: "interrupted" })
  if (signal.aborted) onAbort()
  signal.addEventListener("abort", onAbort, { once: true })
  const settled = promise.then((value): Waited<T> => ({ state: "settled", value }))
  return Promise.race([interruption, settled]).finally(() => signal.removeEventListener("abort", onAbort))
}
