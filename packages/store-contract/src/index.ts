/** `@strata/store-contract`: what every store must do, as cases for any test runner, and stores that count calls or fail on purpose. */
export { type CountedStore, countedStore } from "./counted-store.ts"
export { type FaultPlan, type FaultyStore, faultyStore, StoreFaultError } from "./faulty-store.ts"
export type { ContractCase, ContractGiven, StorePlace } from "./given.ts"
export { storeContract } from "./store-contract.ts"
