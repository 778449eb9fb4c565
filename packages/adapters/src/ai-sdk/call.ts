/** A call of a model of the AI SDK as a request of the Messages API, and the call that is made in its place. */

import {
  type AiSdkLanguageModel,
  apiName,
  type CallOptions,
  cacheControlIn,
  fromPrompt,
  inVersion,
  optionsOn,
  type SentMessage,
  toCallOptions,
  withProgramBreakpoints,
} from "@strata/core/ai-sdk"
import type { Body, CallerRequest } from "../callers/plan.ts"

/** A call that a program makes, and the model it is made to. */
export interface Call {
  readonly params: CallOptions
  readonly model: AiSdkLanguageModel
  readonly how: How
}

export interface AiSdkRequest extends CallerRequest, Call {}

export type How = "generate" | "stream"

type Tool = NonNullable<CallOptions["tools"]>[number]
type Fields = Readonly<Record<string, unknown>>

/** What a program can say in one call: `providerOptions: { strata: { conversation, owner } }`. */
export interface CallSettings {
  readonly conversation?: string
  readonly owner?: string
}

/** The call without what is ours, which no provider may get. */
export function withoutSettings(params: CallOptions): {
  readonly params: CallOptions
  readonly settings: CallSettings
} {
  const { strata, ...providerOptions } = params.providerOptions ?? {}
  return strata
    ? { params: { ...params, providerOptions }, settings: strata as CallSettings }
    : { params, settings: {} }
}

export function requestOf({ params, model, how }: Call, conversation: string | undefined): AiSdkRequest {
  const { tools = [], maxOutputTokens, providerOptions, prompt } = params
  const automatic = cacheControlIn(providerOptions)
  const body: Body = {
    model: model.modelId,
    ...(maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens }),
    ...fromPrompt(prompt as unknown as readonly SentMessage[]),
    ...(tools.length > 0 ? { tools: tools.map(toolDefinition) } : {}),
    ...(automatic ? { cache_control: automatic } : {}),
  }
  // without its tools: `prepareStep` may choose others for each step
  const caller = { name: "AI SDK", ...(conversation === undefined ? {} : { id: conversation }) }
  return { caller, body, params, model, how }
}

function toolDefinition(tool: Tool): Fields {
  const name = apiName(tool.name)
  if (tool.type !== "function")
    return { name, description: `${tool.id} ${JSON.stringify(tool.args)}`, input_schema: { type: "object" } }
  const { description, inputSchema, providerOptions } = tool
  const mark = cacheControlIn(providerOptions)
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: { ...(inputSchema as Fields), type: "object" },
    ...(providerOptions?.anthropic?.deferLoading === true ? { defer_loading: true } : {}),
    ...(mark ? { cache_control: mark } : {}),
  }
}

/** Marks for caches mean something to Claude only. */
const isClaude = ({ provider, modelId }: AiSdkLanguageModel): boolean =>
  /anthropic|claude/i.test(`${provider} ${modelId}`)

/** The call with another body. Everything else that the program says stays. */
export function callWith(body: Body, { params, model }: Call): CallOptions {
  const { tools, tool_choice: _, ...rest } = isClaude(model) ? body : withProgramBreakpoints(body)
  const { prompt } = toCallOptions({ max_tokens: 1, ...rest } as never, model.provider)
  return {
    ...params,
    prompt: inVersion(prompt, model.specificationVersion),
    ...(Array.isArray(tools) ? { tools: toolsFrom(tools, params) } : {}),
  }
}

/** The program's own tools as it has them, with the marks that they have now, and ours. */
export function toolsFrom(tools: readonly Fields[], { tools: own = [] }: CallOptions): Tool[] {
  const known = new Map(own.map((tool) => [apiName(tool.name), tool]))
  return tools.map((tool): Tool => {
    const found = known.get(String(tool.name))
    if (found?.type === "provider") return found
    if (!found) return ourTool(tool)
    const { providerOptions, ...rest } = found
    return { ...rest, ...optionsOn({ ...tool, door: { part: { providerOptions } } }) }
  })
}

function ourTool(tool: Fields): Tool {
  const { name, description, input_schema } = tool
  return { type: "function", name, description, inputSchema: input_schema, ...optionsOn(tool) } as Tool
}
