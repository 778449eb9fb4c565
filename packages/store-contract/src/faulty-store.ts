/** A store that fails at one call of the port, to show that nothing acknowledged is lost and nothing is half there. */
import { StrataError } from "@strata/core/base"
import type { Journal, Membership, PermitAttempt, Store } from "@strata/core/store"
import { tappedStore } from "./tapped-store.ts"

/** Which call fails, and how. */
export interface FaultPlan {
  /** The number of the call, counted from 1 over the whole port. */
  readonly at: number
  /** `before`: it is not made. `after`: it is made, and its answer is lost. A lock that it took lapses, because no one has it. */
  readonly how: "before" | "after"
  /** How many calls in a row fail. Default: 1. */
  readonly length?: number
}

/** A store that fails, and the calls that were made of it. */
export interface FaultyStore {
  readonly store: Store
  /** The calls so far, also those that failed. */
  calls(): readonly string[]
  /** The calls that failed. */
  failed(): readonly string[]
}

/** What a call rejects with that fails on purpose. */
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

/** Gives back what a call has taken, as a store does after a while. */
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
