/** Input and cases of the contract. */
import type { Store } from "@strata/core/store"

/** One requirement of a store. */
export interface ContractCase {
  readonly name: string
  /** Rejects if the store does not meet the requirement. */
  run(): Promise<void>
}

/** An empty data location for one test. */
export interface TestStoreLocation {
  /** Opens another handle on the same data, as another client or process would. */
  store(): Store
  /** Removes the location and its data. */
  close(): Promise<void> | void
}

/** The store that the contract is run on, and the intensity of the tests. */
export interface ContractOptions {
  open(): Promise<TestStoreLocation> | TestStoreLocation
  /** How many writers work at once. Default: 8. */
  readonly writers?: number
  /** How often random operations are compared with a model, and how often concurrent writers compete. Default: 2. */
  readonly runs?: number
  /** Seed of all random choices. A failed case reports it. Default: 1. */
  readonly seed?: number
}
