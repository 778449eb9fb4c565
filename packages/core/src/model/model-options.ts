/** Checks the options of `anthropicModel` and `aiSdkModel`. */
import {
  anOption,
  aPort,
  checkOptions,
  describe,
  InvalidOptionError,
  type OptionRules,
  required,
} from "../base/options.ts"
import type { AiSdkModelOptions } from "./ai-sdk/ai-sdk.ts"
import type { AnthropicModelOptions } from "./anthropic/anthropic.ts"
import { CLIENT_OPTION, isAiSdkModel } from "./choose-model.ts"
import type { RetryOptions } from "./retry.ts"

const RETRY_RULES: OptionRules<RetryOptions> = {
  maxAttempts: anOption.number,
  maxWaitMs: anOption.number,
  random: anOption.callback,
  delay: anOption.callback,
}

const ANTHROPIC_RULES: OptionRules<AnthropicModelOptions> = {
  model: required({ ...anOption.filledText, is: 'a model id such as "claude-opus-5-5"' }),
  apiKey: anOption.text,
  baseURL: anOption.filledText,
  betas: anOption.list,
  client: CLIENT_OPTION,
  timeoutMs: anOption.number,
  limits: anOption.object,
  clock: aPort.clock,
  models: anOption.object,
  env: anOption.object,
  ...RETRY_RULES,
}

const AI_SDK_RULES: OptionRules<AiSdkModelOptions> = {
  name: anOption.filledText,
  models: anOption.object,
  limits: anOption.object,
  clock: aPort.clock,
  ...RETRY_RULES,
}

export const checkAnthropicOptions = (options: unknown): void =>
  checkOptions("anthropicModel", options, ANTHROPIC_RULES)

export function checkAiSdkOptions(model: unknown, options: unknown): void {
  if (!isAiSdkModel(model))
    throw new InvalidOptionError(
      "model",
      `aiSdkModel() takes a model of the AI SDK, such as openai("gpt-5"), not ${describe(model)}.`,
    )
  checkOptions("aiSdkModel", options, AI_SDK_RULES)
}
