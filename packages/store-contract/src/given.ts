/** What the contract is run on, and what it gives. */
import type { Store } from "@strata/core/store"

/** One thing that a store must do. */
export interface ContractCase {
  readonly name: string
  /** Rejects if the store does not do it. */
  run(): Promise<void>
}

/** A fresh place with nothing in it. */
export interface StorePlace {
  /** Another handle on the same data, as another client or process would have it. */
  store(): Store
  /** Removes the place. */
  close(): Promise<void> | void
}

/** Which store the contract is run on, and how hard. */
export interface ContractGiven {
  open(): Promise<StorePlace> | StorePlace
  /** How many write at once. Default: 8. */
  readonly writers?: number
  /** How often random operations are compared with a model, and how often writers meet. Default: 2. */
  readonly runs?: number
  /** Of everything random. A failed case names it. Default: 1. */
  readonly seed?: number
}
