/** Limits of the proxy's memory and waiting times. */
import { type Clock, callAfter } from "@strata/core/base"

const MEGABYTE = 1024 * 1024

export interface ProxyLimits {
  /** Size of a request to `/v1/messages`, decompressed. Default 64 MB. */
  readonly bodyBytes: number
  /** Total size of running requests. Default 512 MB. */
  readonly heldBytes: number
  /** Size of earlier requests that are kept, so that only new messages are parsed. Default 64 MB. */
  readonly knownBytes: number
  /** Number of concurrent requests. Default 256. */
  readonly requests: number
  /** Maximum time for a plan. Default 30 seconds. */
  readonly planMs: number
  /** How long `close()` waits for running responses. Default 5 seconds. */
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

export type TimedResult<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "late" }

/** Runs work with a time limit. Never rejects. A value that comes too late is passed to `late`. */
export function withinLimit<T>(
  work: () => Promise<T>,
  { ms, clock, late }: { readonly ms: number; readonly clock: Clock; readonly late?: (value: T) => void },
): Promise<TimedResult<T>> {
  return new Promise((resolve) => {
    let isLate = false
    const cancel = callAfter(clock, ms, () => {
      isLate = true
      resolve({ kind: "late" })
    })
    const end = (outcome: TimedResult<T>) => {
      cancel()
      if (isLate && outcome.kind === "done") late?.(outcome.value)
      resolve(outcome)
    }
    const running = (async () => work())() // async, so that a synchronous throw becomes a failure too
    running.then(
      (value) => end({ kind: "done", value }),
      (error: unknown) => end({ kind: "failed", error }),
    )
  })
}
