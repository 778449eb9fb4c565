/**
 * The AI SDK's model interface. Types only: `ai` need not be installed unless such a model is used, and none of its code is loaded,
 * because only the model object is called.
 *
 * Three versions of the interface are in use. This package uses the newest. For older versions it converts the outgoing prompt and the
 * last part of the stream.
 */
import type { LanguageModel } from "ai"

/** A model of any provider, such as `openai("gpt-5")`. */
export type AiSdkLanguageModel = Exclude<LanguageModel, string>

type Current = Extract<AiSdkLanguageModel, { readonly specificationVersion: "v4" }>
export type CallOptions = Parameters<Current["doStream"]>[0]
export type PromptMessage = CallOptions["prompt"][number]
export type ProviderOptions = NonNullable<CallOptions["providerOptions"]>
export type StreamPart = Awaited<ReturnType<Current["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never
export type FinishPart = Extract<StreamPart, { readonly type: "finish" }>

type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number]
export type FilePart = Extract<AssistantPart, { type: "file" }>
export type ToolResultPart = Extract<AssistantPart, { type: "tool-result" }>
export type AiSdkToolOutput = ToolResultPart["output"]
type OutputFile = Extract<Extract<AiSdkToolOutput, { type: "content" }>["value"][number], { type: "file" }>

type Version = AiSdkLanguageModel["specificationVersion"]

/** Starts a stream with any version of the interface. */
export async function startStream(
  model: AiSdkLanguageModel,
  options: CallOptions,
): Promise<ReadableStream<StreamPart>> {
  const { specificationVersion: version } = model
  const doStream = model.doStream.bind(model) as Current["doStream"]
  if (version === "v4") return (await doStream(options)).stream
  const { reasoning: _, ...rest } = options // older versions do not have this option
  const prompt = inVersion(options.prompt, version)
  const { stream } = await doStream({ ...rest, prompt })
  return version === "v3"
    ? stream
    : stream.pipeThrough(
        new TransformStream({ transform: (part, controller) => controller.enqueue(respellFinish(part)) }),
      )
}

/** Converts a prompt for a model of this version. */
export const inVersion = (prompt: CallOptions["prompt"], version: Version): CallOptions["prompt"] =>
  version === "v4" ? prompt : prompt.map((message) => respell(message, version))

/** Older versions expect file data without a tag for its kind. */
function respell(message: PromptMessage, version: Version): PromptMessage {
  if (message.role === "system") return message
  const content = message.content.map((part): unknown => {
    if (part.type === "file") return { ...part, data: untagData(part.data) }
    if (part.type !== "tool-result" || part.output.type !== "content") return part
    const value = part.output.value.map((item) => (item.type === "file" ? respellOutput(item, version) : item))
    return { ...part, output: { type: "content", value } }
  })
  return { ...message, content } as PromptMessage
}

function untagData(data: FilePart["data"]): unknown {
  switch (data.type) {
    case "data":
      return data.data
    case "url":
      return data.url
    case "text":
      return Buffer.from(data.text).toString("base64")
    case "reference":
      return data
  }
}

function respellOutput({ data, mediaType }: OutputFile, version: Version): unknown {
  if (data.type === "url") {
    const url = String(data.url)
    return version === "v3" ? { type: "file-url", url } : { type: "text", text: url }
  }
  return { type: version === "v3" ? "file-data" : "media", data: untagData(data), mediaType }
}

/** In version 2, token counts are flat and the finish reason is a plain string. */
function respellFinish(part: StreamPart): StreamPart {
  if (part.type !== "finish") return part
  const old = part as unknown as {
    finishReason: FinishPart["finishReason"]["unified"]
    usage: { inputTokens?: number; outputTokens?: number; cachedInputTokens?: number; reasoningTokens?: number }
  }
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = old.usage
  return {
    ...part,
    finishReason: { unified: old.finishReason, raw: undefined },
    usage: {
      inputTokens: { total: inputTokens, noCache: undefined, cacheRead: cachedInputTokens, cacheWrite: undefined },
      outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens },
    },
  }
}
