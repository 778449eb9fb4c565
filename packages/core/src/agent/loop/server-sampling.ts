/**
 * Sends requests of MCP servers, and web searches, to the agent's model. A request contains only what the server or tool sent. The cost is
 * recorded in the journal. Servers start before the conversation is open; requests until then are refused.
 */

import { engineOf } from "../../conversation/conversation.ts"
import type { ConversationRef } from "../../conversation/open.ts"
import { type Block, textOf } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { Model, ModelResponse } from "../../model/model.ts"
import type { SampledResponse, SampleModel, SamplingRequest, WebQuery } from "../../tools/tool.ts"

interface ServerSamplingDependencies {
  readonly canAsk: boolean
  /** The agent's model, whose API may support web search. */
  readonly model: Model
  readonly conversationRef: ConversationRef
}

export class ServerSampling implements SampleModel {
  readonly canAsk: boolean
  readonly search?: NonNullable<SampleModel["search"]>
  readonly #model: Model
  readonly #conversationRef: ConversationRef

  constructor({ canAsk, model, conversationRef }: ServerSamplingDependencies) {
    this.canAsk = canAsk
    this.#model = model
    this.#conversationRef = conversationRef
    if (model.provider === "anthropic" && model.facts.family.startsWith("claude"))
      this.search = (query, signal) => this.#search(query, signal)
  }

  async ask({ system, messages, maxTokens }: SamplingRequest, signal: AbortSignal): Promise<SampledResponse> {
    const request = {
      max_tokens: maxTokens,
      ...(system === undefined ? {} : { system }),
      messages: messages as ModelRequest["messages"],
    }
    const response = await this.#request(request, { signal, purpose: "sampling" })
    const text = textOf(response.content as readonly Block[])
    return { text, model: response.model, isCut: response.stop_reason === "max_tokens" }
  }

  async #search({ query, allowed, blocked }: WebQuery, signal: AbortSignal): Promise<readonly Block[]> {
    const domains = {
      ...(allowed ? { allowed_domains: [...allowed] } : {}),
      ...(blocked ? { blocked_domains: [...blocked] } : {}),
    }
    const content = `Search the web for: ${query}\n\nThen say what the pages you found say about it, with the address of each.`
    const request = {
      max_tokens: SEARCH_OUTPUT,
      messages: [{ role: "user" as const, content }],
      tools: [{ ...SEARCH_TOOL, ...domains }],
    }
    const response = await this.#request(request, { signal, purpose: "search" })
    return response.content as readonly Block[]
  }

  async #request(request: Omit<ModelRequest, "model">, purposeOptions: RequestPurpose): Promise<ModelResponse> {
    const { conversation } = this.#conversationRef
    const model = this.#model
    const response = await requestResponse(model, { request: { ...request, model: model.name }, ...purposeOptions })
    const { id: responseId, model: name, usage } = response
    const { purpose } = purposeOptions
    await engineOf(conversation).note([{ type: "strata", subtype: "spent", purpose, model: name, responseId, usage }])
    return response
  }
}

const SEARCH_OUTPUT = 8_000 // tokens for thinking, a few searches and their results
const SEARCH_TOOL = { type: "web_search_20250305", name: "web_search", max_uses: 5 } as const // the version that every model supports

interface RequestPurpose {
  readonly signal: AbortSignal
  readonly purpose: "sampling" | "search"
}

async function requestResponse(
  model: Model,
  { request, signal, purpose }: RequestPurpose & { readonly request: ModelRequest },
): Promise<ModelResponse> {
  for await (const event of model.stream(request, { signal, writesCache: false, purpose }))
    if (event.type === "response") return event.response
  throw new Error("The model gave no answer.")
}
