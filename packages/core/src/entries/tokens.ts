/** `@strata/core/tokens`. Estimates, prices, models and thresholds. */
import "../base/node-version.ts"

export { sharesOf } from "../tokens/accounting.ts"
export { usageTotal } from "../tokens/context-size.ts"
export { createEstimator, type Estimator } from "../tokens/estimate.ts"
export { MODEL_FACTS, MODEL_FACTS_DATE } from "../tokens/model-facts.ts"
export { canonicalModelId, findModel, type ModelOverride, windowBetas } from "../tokens/models.ts"
export { OTHER_PRICES_DATE } from "../tokens/other-prices.ts"
export { costOf, tokenCounts } from "../tokens/price.ts"
export { repeatedReads } from "../tokens/repeated-reads.ts"
export { thresholdsFor } from "../tokens/thresholds.ts"
export { fillOf } from "../tokens/window.ts"
