/** Asks the API about a model that is not in the built-in table. It knows the window and what requests may carry, but not the price. */
import type { ModelInfo } from "@anthropic-ai/sdk/resources/models"
import type { ModelFacts } from "../../tokens/model-facts.ts"

/** `assumed` applies wherever the API says nothing. */
export function factsFrom(info: ModelInfo, assumed: ModelFacts): ModelFacts {
  const { capabilities } = info
  const thinking = capabilities?.thinking.types
  return {
    ...assumed,
    window: info.max_input_tokens ?? assumed.window,
    maxOutput: info.max_tokens ?? assumed.maxOutput,
    accepts: {
      ...assumed.accepts,
      contextManagement: capabilities?.context_management.supported ?? assumed.accepts.contextManagement,
      adaptiveThinking: thinking?.adaptive.supported ?? assumed.accepts.adaptiveThinking,
      thinkingBudget: thinking?.enabled.supported ?? assumed.accepts.thinkingBudget,
    },
  }
}
