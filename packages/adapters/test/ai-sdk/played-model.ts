/** A model object that returns scripted parts, one round after another, and records its calls. */
import type { CallOptions, StreamPart } from "../../../core/src/model/ai-sdk/interface.ts"

export type Kind = "text" | "json" | "reasoning" | "Recall" | "look"
export type Round = readonly Kind[]
/** How a round ends: completely or, after so many parts, by closing, with an error part, or with a stream that throws. */
export type End =
  | { readonly how: "whole" }
  | { readonly how: "closed" | "error-part" | "thrown"; readonly after: number }

export const usage = (round: number) => ({
  inputTokens: { total: 100 + round, noCache: 100 + round, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
})

/** The parts of a round, with ids that count from 0 in each. */
export function partsOf(round: Round, number: number): readonly StreamPart[] {
  const isCalling = round.some((kind) => kind === "Recall" || kind === "look")
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: `msg_${number}`, modelId: "played" },
    ...round.flatMap((kind, at) => partsFor(kind, at, number)),
    { type: "finish", finishReason: { unified: isCalling ? "tool-calls" : "stop", raw: "x" }, usage: usage(number) },
  ] as StreamPart[]
}

function partsFor(kind: Kind, at: number, number: number): readonly object[] {
  const id = String(at)
  if (kind === "text" || kind === "json")
    return [
      { type: "text-start", id },
      { type: "text-delta", id, delta: kind === "json" ? `{"round":${number}}` : `said ${number}.${at}` },
      { type: "text-end", id },
    ]
  if (kind === "reasoning")
    return [
      { type: "reasoning-start", id },
      { type: "reasoning-delta", id, delta: "hm" },
      { type: "reasoning-end", id, providerMetadata: { anthropic: { signature: `c2ln${number}${at}` } } },
    ]
  const callId = `call_${number}_${at}_a1b2c3d4e5f6g7h8`
  const input = kind === "Recall" ? '{"search":"port"}' : '{"at":1}'
  return [
    { type: "raw", rawValue: { name: kind } },
    { type: "tool-input-start", id: callId, toolName: kind },
    { type: "tool-input-delta", id: callId, delta: input },
    { type: "tool-input-end", id: callId },
    { type: "tool-call", toolCallId: callId, toolName: kind, input },
  ]
}

export interface PlayedModel {
  readonly model: never
  readonly calls: CallOptions[]
}

interface Playing {
  readonly version: "v3" | "v4"
  /** End of the last round. */
  readonly end?: End
  /** The first round that cannot be sent. */
  readonly failsFrom?: number
  /** A round that the server accepts only on the second attempt. */
  readonly busyAt?: number
}

/** After its rounds, it returns a text in every further round. */
export function played(
  rounds: readonly Round[],
  { version, end = { how: "whole" }, failsFrom, busyAt }: Playing,
): PlayedModel {
  const calls: CallOptions[] = []
  let isBusy = true
  const next = (options: CallOptions) => {
    if (isBusy && calls.length + 1 === busyAt) {
      isBusy = false
      throw Object.assign(new Error("overloaded"), { isRetryable: true, responseHeaders: { "retry-after": "0" } })
    }
    calls.push(options)
    const number = calls.length
    if (failsFrom !== undefined && number >= failsFrom) throw new Error("the server is gone")
    const round = rounds[number - 1] ?? ["text"]
    return { parts: partsOf(round, number), isLast: number === rounds.length }
  }
  const model = {
    specificationVersion: version,
    provider: "played.chat",
    modelId: "played",
    supportedUrls: {},
    async doStream(options: CallOptions) {
      const { parts, isLast } = next(options)
      const shown = options.includeRawChunks ? parts : parts.filter(({ type }) => type !== "raw")
      return { stream: streamOf(shown, isLast ? end : { how: "whole" }) }
    },
    async doGenerate(options: CallOptions) {
      const { parts } = next(options)
      const finish = parts.at(-1) as Extract<StreamPart, { type: "finish" }>
      const content = parts.flatMap((part): object[] => {
        if (part.type === "text-delta") return [{ type: "text", text: part.delta }]
        if (part.type === "reasoning-delta") return [{ type: "reasoning", text: part.delta }]
        return part.type === "tool-call" ? [part] : []
      })
      return { content, finishReason: finish.finishReason, usage: finish.usage, warnings: [] }
    },
  }
  return { model: model as never, calls }
}

function streamOf(parts: readonly StreamPart[], end: End): ReadableStream<StreamPart> {
  const shown = end.how === "whole" ? parts : parts.slice(0, end.after)
  return ReadableStream.from(
    (async function* () {
      yield* shown
      if (end.how === "error-part") yield { type: "error", error: new Error("the server broke off") } as StreamPart
      if (end.how === "thrown") throw new Error("the connection broke")
    })(),
  ) as ReadableStream<StreamPart>
}
