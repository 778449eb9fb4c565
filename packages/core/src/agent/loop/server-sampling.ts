/**
 * Asks the agent's model for an MCP server, or to search the web. The request holds only what the server or the tool sent. What it cost is in
 * the journal. Servers start before the conversation is open: what they ask until then is refused.
 */

import type { WhenOpen } from "../../conversation/open.ts"
import { type Block, textOf } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { Model, ModelResponse } from "../../model/model.ts"
import type { ModelSample, SampledAnswer, SampleModel, WebQuery } from "../../tools/tool.ts"

interface ServerSamplingParts {
  readonly canAsk: boolean
  /** Its API may be able to search the web. */
  readonly model: Model
  readonly whenOpen: WhenOpen
}

export class ServerSampling implements SampleModel {
  readonly canAsk: boolean
  readonly search?: NonNullable<SampleModel["search"]>
  readonly #model: Model
  readonly #whenOpen: WhenOpen

  constructor({ canAsk, model, whenOpen }: ServerSamplingParts) {
    this.canAsk = canAsk
    this.#model = model
    this.#whenOpen = whenOpen
    if (model.provider === "anthropic" && model.facts.family.startsWith("claude"))
      this.search = (query, signal) => this.#search(query, signal)
  }

  async ask({ system, messages, maxTokens }: ModelSample, signal: AbortSignal): Promise<SampledAnswer> {
    const request = {
      max_tokens: maxTokens,
      ...(system === undefined ? {} : { system }),
      messages: messages as ModelRequest["messages"],
    }
    const response = await this.#answerTo(request, { signal, purpose: "sampling" })
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
    const response = await this.#answerTo(request, { signal, purpose: "search" })
    return response.content as readonly Block[]
  }

  async #answerTo(request: Omit<ModelRequest, "model">, how: How): Promise<ModelResponse> {
    const { conversation } = this.#whenOpen
    const model = this.#model
    const response = await answerTo(model, { request: { ...request, model: model.name }, ...how })
    const { id: responseId, model: name, usage } = response
    const { purpose } = how
    await conversation.note([{ type: "strata", subtype: "spent", purpose, model: name, responseId, usage }])
    return response
  }
}

const SEARCH_OUTPUT = 8_000 // tokens: thinking, a few searches and what they found
const SEARCH_TOOL = { type: "web_search_20250305", name: "web_search", max_uses: 5 } as const // the version that every model has

interface How {
  readonly signal: AbortSignal
  readonly purpose: "sampling" | "search"
}

async function answerTo(
  model: Model,
  { request, signal, purpose }: How & { readonly request: ModelRequest },
): Promise<ModelResponse> {
  for await (const event of model.stream(request, { signal, writesCache: false, purpose }))
    if (event.type === "response") return event.response
  throw new Error("The model gave no answer.")
}
