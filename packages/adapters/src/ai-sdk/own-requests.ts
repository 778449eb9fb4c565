/** Requests of our own, such as summaries: sent by the program's model, with the options of its last call, so that they read its cache. */
import type { AiSdkModel, CallOptions, StreamPart } from "@strata/core/ai-sdk"
import { type AiSdkRequest, toolsFrom } from "./call.ts"
import { type GivenModel, partsOf, type StreamResult } from "./given-model.ts"

export function ownModel(last: () => AiSdkRequest): { readonly model: AiSdkModel } {
  const { specificationVersion, provider, modelId } = last().model
  const doStream = async (options: CallOptions): Promise<StreamResult> => {
    const { model, params, how } = last()
    const given = model as unknown as GivenModel
    const own = asLast(options, params)
    // some providers send other tool definitions with a stream, which no cache has then
    if (how === "stream") return given.doStream(own)
    return { stream: ReadableStream.from(partsOf(await given.doGenerate(own))) as ReadableStream<StreamPart> }
  }
  return { model: { specificationVersion, provider, modelId, doStream: doStream as AiSdkModel["doStream"] } }
}

/** Without what gives the program's answers their form: ours is a text, and it must be whole. */
function asLast(options: CallOptions, params: CallOptions): CallOptions {
  const { responseFormat: _, stopSequences: __, toolChoice, tools: ___, maxOutputTokens: ____, ...rest } = params
  const isForced = toolChoice?.type === "required" || toolChoice?.type === "tool"
  const { tools } = options
  return {
    ...rest,
    ...(toolChoice && tools && !isForced ? { toolChoice } : {}),
    ...options,
    ...(tools ? { tools: toolsFrom(tools.map(asDefinition), params) } : {}),
  }
}

/** The marks of a tool are the last call's, or those that are placed now. */
function asDefinition(tool: NonNullable<CallOptions["tools"]>[number]) {
  if (tool.type !== "function") return { name: tool.name }
  const { name, description, inputSchema, providerOptions } = tool
  const mark = providerOptions?.anthropic?.cacheControl
  return { name, description, input_schema: inputSchema, ...(mark ? { cache_control: mark } : {}) }
}
