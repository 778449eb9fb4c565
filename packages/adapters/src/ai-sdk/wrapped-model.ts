/** The model that a program wraps, as far as the middleware calls it. */
import type { CallOptions, FinishPart, StreamPart } from "@strata/core/ai-sdk"

export interface StreamResult {
  readonly stream: ReadableStream<StreamPart>
}

export interface GenerateResult {
  readonly content: readonly StreamPart[]
  readonly finishReason: FinishPart["finishReason"]
  readonly usage: FinishPart["usage"]
  readonly response?: { readonly id?: string; readonly modelId?: string }
  readonly [field: string]: unknown
}

export interface WrappedModel {
  doStream(options: CallOptions): PromiseLike<StreamResult>
  doGenerate(options: CallOptions): PromiseLike<GenerateResult>
}

/** Converts a complete result to the parts that its stream would have had. */
export function partsOf({
  content,
  finishReason,
  usage,
  response,
  providerMetadata,
}: GenerateResult): readonly StreamPart[] {
  const { id, modelId } = response ?? {}
  const metadata = { type: "response-metadata", ...(id === undefined ? {} : { id }), ...(modelId ? { modelId } : {}) }
  const parts = content.flatMap((part, at): object[] => {
    const { type, text, ...rest } = part as { type: string; text?: string }
    if (type !== "text" && type !== "reasoning") return [part]
    const named = { ...rest, id: String(at) }
    return [
      { ...named, type: `${type}-start` },
      { type: `${type}-delta`, id: named.id, delta: text },
    ]
  })
  return [
    metadata,
    ...parts,
    { type: "finish", finishReason, usage, ...(providerMetadata ? { providerMetadata } : {}) },
  ] as StreamPart[]
}
