/** What bounds the proxy's memory and its patience, and how a plan is awaited no longer than that. */
import { type Clock, callAfter } from "@strata/core/base"

const MEGABYTE = 1024 * 1024

export interface ProxyLimits {
  /** Of a request to `/v1/messages`, decompressed. Default 64 MB. */
  readonly bodyBytes: number
  /** Of all such requests that are under way. Default 512 MB. */
  readonly heldBytes: number
  /** Of earlier requests, kept to parse only what is new in the next. Default 64 MB. */
  readonly knownBytes: number
  /** That are under way at once. Default 256. */
  readonly requests: number
  /** How long a plan may take. Default 30 seconds. */
  readonly planMs: number
  /** How long `close()` lets answers go on. Default 5 seconds. */
  readonly graceMs: number
}

export const DEFAULT_LIMITS: ProxyLimits = {
  bodyBytes: 64 * MEGABYTE,
  heldBytes: 512 * MEGABYTE,
  knownBytes: 64 * MEGABYTE,
  requests: 256,
  planMs: 30_000,
  graceMs: 5_000,
}

export type Outcome<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "late" }

/** Never rejects. What comes too late is given to `late`. */
export function withinLimit<T>(
  work: () => Promise<T>,
  { ms, clock, late }: { readonly ms: number; readonly clock: Clock; readonly late?: (value: T) => void },
): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    let isLate = false
    const cancel = callAfter(clock, ms, () => {
      isLate = true
      resolve({ kind: "late" })
    })
    const end = (outcome: Outcome<T>) => {
      cancel()
      if (isLate && outcome.kind === "done") late?.(outcome.value)
      resolve(outcome)
    }
    const running = (async () => work())() // what it throws at once is a failure too
    running.then(
      (value) => end({ kind: "done", value }),
      (error: unknown) => end({ kind: "failed", error }),
    )
  })
}
