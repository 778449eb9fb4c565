/** `@strata/core/tokens`. Estimates, prices, models and thresholds. */
import "../base/node-version.ts"

export type {
  ContextBreakdown,
  ContextShare,
  ContextShares,
  DeferredAccount,
  DuplicateRead,
  RepeatedReads,
} from "../tokens/context-breakdown.ts"
export { breakDownContext, contextShares, repeatedReads } from "../tokens/context-breakdown.ts"
export type { ContextSize } from "../tokens/context-size.ts"
export { usageTotal } from "../tokens/context-size.ts"
export type { BlockTokens } from "../tokens/estimate.ts"
export { cacheBlockTokens, createEstimator, type Estimator } from "../tokens/estimate.ts"
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
export { allowedCompaction, computeWindowUsage, thresholdsFor } from "../tokens/window.ts"
