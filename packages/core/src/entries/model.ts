/** `@strata/core/model`. Model requests: failures, retries, cache breakpoints. */
import "../base/node-version.ts"

export type { AiSdkModelOptions } from "../model/ai-sdk/ai-sdk.ts"
export type { AnthropicModel, AnthropicModelOptions } from "../model/anthropic/anthropic.ts"
export { MessageCollector } from "../model/anthropic/collect.ts"
export { placeBreakpoints, withBreakpoints } from "../model/cache/breakpoints.ts"
export type { RequestChange } from "../model/cache/compare-requests.ts"
export type { CacheEvent, CachePrediction } from "../model/cache/forecast.ts"
export { type CacheEntryLifetime, LIFETIME_MS, type PromptSetting } from "../model/cache/prefix.ts"
export type { CacheCause, CacheVerdict, ExpectedDrop, ProviderReason } from "../model/cache/verdict.ts"
export type { ModelChoice } from "../model/choose-model.ts"
export type { ModelFailureDetails } from "../model/errors.ts"
export { ConnectionLostError, ModelAbortedError } from "../model/errors.ts"
export type {
  AttemptObserver,
  ModelEvent,
  RateLimit,
  StreamLimits,
  StreamOptions,
  WarmOptions,
  WarmResponse,
} from "../model/model.ts"
export { asModelError, type ProviderFailure } from "../model/provider-failure.ts"
export { refusesThinking } from "../model/refused-thinking.ts"
export { withRetries } from "../model/stream.ts"
export { summarizedThinking } from "../views/context/request.ts"
export { CLEAR_THINKING, CLEAR_TOOL_USES, callsKeptBy } from "../views/context/server-side.ts"
