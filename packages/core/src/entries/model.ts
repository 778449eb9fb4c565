/** `@strata/core/model`. Asking a model: failures, retries, cache breakpoints. */
import "../base/node-version.ts"

export { MessageCollector } from "../model/anthropic/collect.ts"
export { markedMessages, placeBreakpoints } from "../model/cache/breakpoints.ts"
export { LIFETIME_MS, type Lifetime } from "../model/cache/known-entries.ts"
export { CLEAR_THINKING, CLEAR_TOOL_USES, callsKeptBy } from "../model/context-management.ts"
export { ConnectionLostError, ModelAbortedError } from "../model/errors.ts"
export { asModelError, type ProviderFailure } from "../model/provider-failure.ts"
export { refusesThinking } from "../model/refused-thinking.ts"
export { withRetries } from "../model/retry.ts"
export { summarizedThinking } from "../model/summarized-thinking.ts"
