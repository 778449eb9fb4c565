/** Checks a system prompt and tools without a request: when they are passed, and when a journal contains them. */
import type { ModelRequest } from "../request.ts"
import type { ModelRules, Violation } from "./rule.ts"
import { validateRequest } from "./validator.ts"

const ANY_MODEL: ModelRules = {
  id: "any",
  window: Number.POSITIVE_INFINITY,
  maxOutput: 1,
  accepts: {
    overflowingOutput: true,
    prefill: true,
    thinkingBudget: true,
    adaptiveThinking: true,
    thinkingOff: true,
    forcedTools: true,
    systemMessages: true,
    toolReferences: true,
    cacheEditing: false,
  },
}

/** The first violation that every request with this prompt would have. */
export function promptProblem({
  system,
  tools,
}: {
  readonly system: unknown
  readonly tools: unknown
}): Violation | undefined {
  const request = { model: "any", max_tokens: 1, messages: [{ role: "user", content: "any" }], system, tools }
  const found = validateRequest({ request: request as ModelRequest, model: ANY_MODEL })
  return found.find(({ path }) => /^(?:system|tools)\b/.test(path))
}
