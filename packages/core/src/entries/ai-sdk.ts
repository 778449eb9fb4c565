/** `@strata/core/ai-sdk`. Translation between the Messages API and the Vercel AI SDK, for adapters. */
import "../base/node-version.ts"

export { type AiSdkModel, estimateUsage, readFailure, untilAborted } from "../model/ai-sdk/ai-sdk.ts"
export { PartCollector } from "../model/ai-sdk/collect.ts"
export { apiName, fromPrompt, type PromptMessage } from "../model/ai-sdk/from-prompt.ts"
export {
  type AiSdkLanguageModel,
  type CallOptions,
  type FinishPart,
  inVersion,
  type StreamPart,
} from "../model/ai-sdk/interface.ts"
export { toCallOptions } from "../model/ai-sdk/prompt.ts"
export { cacheControlIn, optionsOn, withProgramBreakpoints } from "../model/ai-sdk/provider-metadata.ts"
