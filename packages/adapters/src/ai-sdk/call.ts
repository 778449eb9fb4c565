/** Converts a call of an AI SDK model to a request of the Messages API, and creates the call that replaces it. */

import {
  type AiSdkLanguageModel,
  apiName,
  type CallOptions,
  cacheControlIn,
  fromPrompt,
  inVersion,
  optionsOn,
  type PromptMessage,
  toCallOptions,
  withProgramBreakpoints,
} from "@strata/core/ai-sdk"
import type { ApiBody, ConversationRequest } from "../clients/plan.ts"

/** A call of a program and the model it is made to. */
export interface AiSdkCall {
  readonly params: CallOptions
  readonly model: AiSdkLanguageModel
  readonly mode: CallMode
}

export interface AiSdkRequest extends ConversationRequest, AiSdkCall {}

export type CallMode = "generate" | "stream"

type Tool = NonNullable<CallOptions["tools"]>[number]
type Fields = Readonly<Record<string, unknown>>

/** Settings of a single call: `providerOptions: { strata: { conversation, owner } }`. */
export interface CallSettings {
  readonly conversation?: string
  readonly owner?: string
}

/** Removes Strata's settings from the call, because no provider may receive them. */
export function withoutSettings(params: CallOptions): {
  readonly params: CallOptions
  readonly settings: CallSettings
} {
  const { strata, ...providerOptions } = params.providerOptions ?? {}
  return strata
    ? { params: { ...params, providerOptions }, settings: strata as CallSettings }
    : { params, settings: {} }
}

export function requestOf({ params, model, mode }: AiSdkCall, conversation: string | undefined): AiSdkRequest {
  const { tools = [], maxOutputTokens, providerOptions, prompt } = params
  const automatic = cacheControlIn(providerOptions)
  const body: ApiBody = {
    model: model.modelId,
    ...(maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens }),
    ...fromPrompt(prompt as unknown as readonly PromptMessage[]),
    ...(tools.length > 0 ? { tools: tools.map(toolDefinition) } : {}),
    ...(automatic ? { cache_control: automatic } : {}),
  }
  // tools are not part of the identity: `prepareStep` may choose others for each step
  const client = { name: "AI SDK", ...(conversation === undefined ? {} : { id: conversation }) }
  return { client, body, params, model, mode }
}

function toolDefinition(tool: Tool): Fields {
  const name = apiName(tool.name)
  if (tool.type !== "function")
    return { name, description: `${tool.id} ${JSON.stringify(tool.args)}`, input_schema: { type: "object" } }
  const { description, inputSchema, providerOptions } = tool
  const breakpoint = cacheControlIn(providerOptions)
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: { ...(inputSchema as Fields), type: "object" },
    ...(providerOptions?.anthropic?.deferLoading === true ? { defer_loading: true } : {}),
    ...(breakpoint ? { cache_control: breakpoint } : {}),
  }
}

/** Only Claude models support cache breakpoints. */
const isClaude = ({ provider, modelId }: AiSdkLanguageModel): boolean =>
  /anthropic|claude/i.test(`${provider} ${modelId}`)

/** Replaces the body of a call. All other parameters stay. */
export function callWith(body: ApiBody, { params, model }: AiSdkCall): CallOptions {
  const { tools, tool_choice: _, ...rest } = isClaude(model) ? body : withProgramBreakpoints(body)
  const { prompt } = toCallOptions({ max_tokens: 1, ...rest } as never, model.provider)
  return {
    ...params,
    prompt: inVersion(prompt, model.specificationVersion),
    ...(Array.isArray(tools) ? { tools: toolsFrom(tools, params) } : {}),
  }
}

/** The program's tools with their current cache breakpoints, and Strata's tools. */
export function toolsFrom(tools: readonly Fields[], { tools: own = [] }: CallOptions): Tool[] {
  const known = new Map(own.map((tool) => [apiName(tool.name), tool]))
  return tools.map((tool): Tool => {
    const found = known.get(String(tool.name))
    if (found?.type === "provider") return found
    if (!found) return strataTool(tool)
    const { providerOptions, ...rest } = found
    return { ...rest, ...optionsOn({ ...tool, door: { part: { providerOptions } } }) }
  })
}

function strataTool(tool: Fields): Tool {
  const { name, description, input_schema } = tool
  return { type: "function", name, description, inputSchema: input_schema, ...optionsOn(tool) } as Tool
}
