/** Strata's own requests, such as summaries: sent by the program's model with the options of its last call, so that they read its cache. */
import type { AiSdkModel, CallOptions, StreamPart } from "@strata/core/ai-sdk"
import { type AiSdkRequest, toolsFrom } from "./call.ts"
import { partsOf, type StreamResult, type WrappedModel } from "./wrapped-model.ts"

export function strataModel(last: () => AiSdkRequest): { readonly model: AiSdkModel } {
  const { specificationVersion, provider, modelId } = last().model
  const doStream = async (options: CallOptions): Promise<StreamResult> => {
    const { model, params, mode } = last()
    const given = model as unknown as WrappedModel
    const own = withLastOptions(options, params)
    // some providers send other tool definitions when streaming, which would miss the cache
    if (mode === "stream") return given.doStream(own)
    return { stream: ReadableStream.from(partsOf(await given.doGenerate(own))) as ReadableStream<StreamPart> }
  }
  return { model: { specificationVersion, provider, modelId, doStream: doStream as AiSdkModel["doStream"] } }
}

/** Removes parameters that shape the program's responses: Strata's responses are text and must be complete. */
function withLastOptions(options: CallOptions, params: CallOptions): CallOptions {
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

/** The cache breakpoint of a tool is that of the last call, or the one placed now. */
function asDefinition(tool: NonNullable<CallOptions["tools"]>[number]) {
  if (tool.type !== "function") return { name: tool.name }
  const { name, description, inputSchema, providerOptions } = tool
  const breakpoint = providerOptions?.anthropic?.cacheControl
  return { name, description, input_schema: inputSchema, ...(breakpoint ? { cache_control: breakpoint } : {}) }
}
