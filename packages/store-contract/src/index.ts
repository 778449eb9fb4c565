/**
 * `@strata/store-contract`: the requirements of every store as cases for any test runner, and stores that count calls or fail on purpose.
 */

export type { ContractCase, ContractOptions, TestStoreLocation } from "./contract-options.ts"
export { type CountedStore, countedStore } from "./counted-store.ts"
export { type FaultPlan, type FaultyStore, faultyStore, StoreFaultError } from "./faulty-store.ts"
export { storeContract } from "./store-contract.ts"
