/** A store that fails at one call of the port, to show that no acknowledged write is lost and no write is partly visible. */
import { StrataError } from "@strata/core/base"
import type { Journal, Membership, PermitAttempt, Store } from "@strata/core/store"
import { tappedStore } from "./tapped-store.ts"

/** Which call fails, and in which way. */
export interface FaultPlan {
  /** The number of the call, counted from 1 over the entire port. */
  readonly at: number
  /**
   * `before`: the call is not made. `after`: the call is made and its answer is lost. A lock that it took lapses, because no one holds it.
   */
  readonly how: "before" | "after"
  /** How many consecutive calls fail. Default: 1. */
  readonly length?: number
}

/** A failing store and a record of the calls made to it. */
export interface FaultyStore {
  readonly store: Store
  /** All calls so far, including those that failed. */
  calls(): readonly string[]
  /** The calls that failed. */
  failed(): readonly string[]
}

/** The error of a call that fails on purpose. */
export class StoreFaultError extends StrataError {
  static override readonly code: string = "store-fault"
  override readonly name = "StoreFaultError"

  constructor(call: string, how: FaultPlan["how"]) {
    super(
      how === "before"
        ? `The store cannot be reached: ${call} was not made. Everything acknowledged before is kept. Try again.`
        : `The store did not answer: whether ${call} was made is unknown. Everything acknowledged before is kept. Look before you try again.`,
    )
  }
}

/** Releases what a call has taken, as a store does when a lease expires. */
async function lapse(name: string, answer: unknown): Promise<void> {
  if (name === "open") await (answer as Journal).close()
  if (name === "mailboxes.join") await (answer as Membership).leave()
  if (name === "permit.take") {
    const attempt = answer as PermitAttempt
    if (attempt.state === "acquired") await attempt.permit.release()
  }
}

/** A store whose nth call fails. */
export function faultyStore(store: Store, { at, how, length = 1 }: FaultPlan): FaultyStore {
  const calls: string[] = []
  const failed: string[] = []
  const faulty = tappedStore(store, async ({ name, run }) => {
    const number = calls.push(name)
    if (number < at || number >= at + length) return run()
    failed.push(name)
    if (how === "after") await lapse(name, await run())
    throw new StoreFaultError(name, how)
  })
  return { store: faulty, calls: () => [...calls], failed: () => [...failed] }
}
