/** A chat route for `useChat`: UI messages are saved after each response, and each chat is a conversation. */
import { type StrataOptions, strataMiddleware } from "@strata/adapters/ai-sdk"
import {
  convertToModelMessages,
  type LanguageModelMiddleware,
  stepCountIs,
  streamText,
  type ToolSet,
  type UIMessage,
  wrapLanguageModel,
} from "ai"

type GivenModel = Parameters<typeof wrapLanguageModel>[0]["model"]

export interface ChatRouteOptions {
  readonly model: GivenModel
  readonly tools: ToolSet
  readonly save: (id: string, messages: readonly UIMessage[]) => Promise<void>
  readonly strata?: StrataOptions
}

export function chatRoute({ model: given, tools, save, strata }: ChatRouteOptions) {
  const middleware: LanguageModelMiddleware = strataMiddleware(strata)
  const model = wrapLanguageModel({ model: given, middleware })
  return async (request: Request): Promise<Response> => {
    const { id, messages } = (await request.json()) as { id: string; messages: UIMessage[] }
    const result = streamText({
      model,
      tools,
      messages: await convertToModelMessages(messages),
      stopWhen: stepCountIs(50),
      providerOptions: { strata: { conversation: id } }, // the chat's id; it is not sent to the provider
    })
    return result.toUIMessageStreamResponse({
      originalMessages: messages,
      onFinish: (answer) => save(id, answer.messages),
    })
  }
}
