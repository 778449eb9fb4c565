/**
 * Asks the agent's model for an MCP server. The request holds only what the server sent. What it cost is in the journal. Servers start
 * before the conversation is open, so the model comes later.
 */

import type { Conversation } from "../conversation/conversation.ts"
import { type Block, textOf } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { Model, ModelResponse } from "../model/model.ts"
import type { Sample, SampledAnswer, SampleModel } from "../tools/tool.ts"

interface Asked {
  readonly model: Model
  readonly conversation: Pick<Conversation, "note">
}

export class ServerSampling implements SampleModel {
  readonly canAsk: boolean
  #asked: Asked | undefined

  constructor(canAsk: boolean) {
    this.canAsk = canAsk
  }

  use(asked: Asked): void {
    this.#asked = asked
  }

  async ask({ system, messages, maxTokens }: Sample, signal: AbortSignal): Promise<SampledAnswer> {
    if (!this.#asked) throw new Error("The conversation is still opening. Try again later.")
    const { model, conversation } = this.#asked
    const request: ModelRequest = {
      model: model.name,
      max_tokens: maxTokens,
      ...(system === undefined ? {} : { system }),
      messages: messages as ModelRequest["messages"],
    }
    const response = await answerTo(model, { request, signal })
    const { id: responseId, model: name, usage } = response
    await conversation.note([{ type: "strata", subtype: "spent", purpose: "sampling", model: name, responseId, usage }])
    const text = textOf(response.content as readonly Block[])
    return { text, model: name, isCut: response.stop_reason === "max_tokens" }
  }
}

async function answerTo(
  model: Model,
  { request, signal }: { readonly request: ModelRequest; readonly signal: AbortSignal },
): Promise<ModelResponse> {
  for await (const event of model.stream(request, { signal, writesCache: false, purpose: "sampling" }))
    if (event.type === "response") return event.response
  throw new Error("The model gave no answer.")
}
