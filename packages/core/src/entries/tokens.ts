/** `@strata/core/tokens`. Estimates, prices, models and thresholds. */
import "../base/node-version.ts"

export type {
  Accounting,
  ContextShare,
  ContextShares,
  DeferredAccount,
  DuplicateRead,
  RepeatedReads,
} from "../tokens/accounting.ts"
export { account, repeatedReads, sharesOf } from "../tokens/accounting.ts"
export type { ContextSize } from "../tokens/context-size.ts"
export { usageTotal } from "../tokens/context-size.ts"
export type { BlockTokens } from "../tokens/estimate.ts"
export { createEstimator, type Estimator, measuredOnce } from "../tokens/estimate.ts"
export type { ModelAccepts, ModelFacts, ModelLookup, ModelPrice, TokenizerFamily } from "../tokens/models.ts"
export {
  canonicalModelId,
  costOf,
  costOfUsage,
  findModel,
  MODEL_FACTS,
  MODEL_FACTS_DATE,
  type ModelOverride,
  OTHER_PRICES_DATE,
  tokenCounts,
  windowBetas,
} from "../tokens/models.ts"
export type { LearnedLimit } from "../tokens/window.ts"
export { compactionAllowed, thresholdsFor, windowUsageOf } from "../tokens/window.ts"
