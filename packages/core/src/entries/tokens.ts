/** `@strata/core/tokens`. Estimates, prices, models and thresholds. */
import "../base/node-version.ts"

export type {
  Accounting,
  DeferredAccount,
  DuplicateRead,
  Share as ContextShare,
  Shares as ContextShares,
} from "../tokens/accounting.ts"
export { account, sharesOf } from "../tokens/accounting.ts"
export type { ContextSize } from "../tokens/context-size.ts"
export { usageTotal } from "../tokens/context-size.ts"
export { createEstimator, type Estimator } from "../tokens/estimate.ts"
export type { LearntLimit } from "../tokens/learnt-limit.ts"
export type { BlockTokens } from "../tokens/measured-once.ts"
export { measuredOnce } from "../tokens/measured-once.ts"
export type { ModelAccepts, ModelFacts, Price as ModelPrice, TokenizerFamily } from "../tokens/model-facts.ts"
export { MODEL_FACTS, MODEL_FACTS_DATE } from "../tokens/model-facts.ts"
export type { ModelLookup } from "../tokens/models.ts"
export { canonicalModelId, findModel, type ModelOverride, windowBetas } from "../tokens/models.ts"
export { OTHER_PRICES_DATE } from "../tokens/other-prices.ts"
export { costOf, costOfUsage, tokenCounts } from "../tokens/price.ts"
export type { RepeatedReads } from "../tokens/repeated-reads.ts"
export { repeatedReads } from "../tokens/repeated-reads.ts"
export { thresholdsFor } from "../tokens/thresholds.ts"
export { fillOf } from "../tokens/window.ts"
