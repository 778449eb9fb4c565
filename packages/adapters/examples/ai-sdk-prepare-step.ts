/**
 * An agent that changes its messages from step to step. Strata follows the changes: messages that `prepareStep` omits are still in the
 * journal.
 */
import { type StrataOptions, strataMiddleware } from "@strata/adapters/ai-sdk"
import { generateText, stepCountIs, type ToolSet, wrapLanguageModel } from "ai"

type GivenModel = Parameters<typeof wrapLanguageModel>[0]["model"]

export interface ReviewOptions {
  readonly model: GivenModel
  readonly tools: ToolSet
  readonly task: string
  readonly strata?: StrataOptions
}

export async function review({ model, tools, task, strata }: ReviewOptions): Promise<string> {
  const { text } = await generateText({
    model: wrapLanguageModel({ model, middleware: strataMiddleware(strata) }),
    tools,
    prompt: task,
    stopWhen: stepCountIs(50),
    // a program may still trim its own list: the model gets what fits, and can recall the rest
    prepareStep: ({ messages }) => ({
      messages: messages.length > 20 ? messages.slice(0, 1).concat(messages.slice(-18)) : messages,
    }),
  })
  return text
}
