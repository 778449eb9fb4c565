/**
 * A processor for Mastra's agents. Before each step it puts the AI SDK's middleware around the step's model, so that Mastra's own messages,
 * memory and tools stay as they are. A processor that changed messages could not offer a tool of ours, nor answer its calls.
 */
import { strataMiddleware } from "../ai-sdk.ts"
import type { StrataOptions } from "../options.ts"
import { type LanguageModel, wrapped } from "./wrapped-model.ts"

/** What Mastra gives for each step, as far as it is read here. */
interface Step<M> {
  readonly model: M
  /** Mastra writes the thread on each message. */
  readonly messages: readonly { readonly threadId?: string | undefined }[]
}

/** Fits `inputProcessors` of an agent. */
export interface StrataProcessor {
  readonly id: "strata"
  readonly name: "Strata"
  processInputStep<M>(step: Step<M>): { readonly model: M }
}

/** Put it last: other processors may choose another model. Each thread is a conversation; without one the messages tell. */
export function strataProcessor(options: StrataOptions = {}): StrataProcessor {
  return {
    id: "strata",
    name: "Strata",
    processInputStep: ({ model, messages }) => {
      const conversation = options.conversation ?? messages.findLast(({ threadId }) => threadId)?.threadId
      const middleware = strataMiddleware({ ...options, ...(conversation ? { conversation } : {}) })
      return { model: wrapped(model as LanguageModel, middleware) as typeof model }
    },
  }
}
