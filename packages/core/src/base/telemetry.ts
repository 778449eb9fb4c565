/**
 * Telemetry through the OpenTelemetry API, following its conventions for generative AI. Without an exporter, calls do nothing. A span
 * covers the duration of the work, even if it fails. Content is exported only if `exportContent` is set.
 */
import { type Attributes, context, metrics, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api"
import { type Clock, systemClock } from "./clock.ts"
import type { RequestSource } from "./enums.ts"
import { errorKind } from "./errors.ts"
import { inputTokens, type TokenCounts } from "./text.ts"

const SCOPE = "@strata/core"

/** Why a compaction failed. */
export type CompactionFailureReason = "no_summary" | "api_error" | "prompt_too_long" | "threshold_exceeded" | "aborted"

export interface RequestSpan {
  readonly conversation: string
  readonly model: string
  readonly provider: string
  readonly maxTokens: number
  readonly purpose: RequestSource
  /** Id of the context between two boundaries that the request belongs to. */
  readonly context?: string | undefined
  /** Returns the messages. Called only if content is exported. */
  readonly input?: () => unknown
  /** When the request was sent. Default: now. */
  readonly sentAt?: Date
}

export interface RequestOutcome {
  readonly responseId?: string
  readonly responseModel?: string
  readonly stopReason?: string
  readonly counts?: TokenCounts
  /** Returns the response content. Called only if content is exported. */
  readonly output?: () => unknown
}

/** A request in progress. The first call ends its span. */
export interface RequestTrace {
  answered(outcome: RequestOutcome): void
  failed(error: unknown): void
  /** The response is no longer awaited. */
  abandoned(): void
}

export interface ToolSpan {
  readonly conversation: string
  readonly name: string
  readonly callId: string
  /** Called only if content is exported. */
  readonly input?: () => unknown
}

export interface LayerSpan {
  readonly conversation: string
  readonly layer: string
}

export interface LayerOutcome {
  readonly trigger: string
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Attributes of the span, by name. */
  readonly facts?: Attributes
  /** Counts by name, such as `memories.written`. */
  readonly counts?: Readonly<Record<string, number>>
  readonly failure?: CompactionFailureReason
}

/** A query of an agent. Spans created inside `within` are its children. */
export interface QueryTrace {
  within<T>(work: () => T): T
  ended(reason: string): void
}

export interface Telemetry {
  query(about: { readonly conversation: string; readonly model: string; readonly provider: string }): QueryTrace
  request(about: RequestSpan): RequestTrace
  tool<T extends { readonly isError?: boolean }>(about: ToolSpan, work: () => Promise<T>): Promise<T>
  /** Creates a span only if the work calls `finish` or throws. */
  layer<T>(about: LayerSpan, work: (finish: (outcome: LayerOutcome) => void) => Promise<T>): Promise<T>
  /** Counts an event that has no span of its own, and adds it to the active span. */
  count(name: string, attributes?: Attributes, amount?: number): void
}

/** For work that must not appear in telemetry. */
export const silentTelemetry: Telemetry = {
  query: () => ({ within: (work) => work(), ended: () => undefined }),
  request: () => ({ answered: () => undefined, failed: () => undefined, abandoned: () => undefined }),
  tool: (_, work) => work(),
  layer: (_, work) => work(() => undefined),
  count: () => undefined,
}

export interface TelemetryOptions {
  readonly exportContent?: boolean
  readonly clock?: Clock
}

export function createTelemetry({ exportContent = false, clock = systemClock }: TelemetryOptions = {}): Telemetry {
  const tracer = trace.getTracer(SCOPE)
  const meter = metrics.getMeter(SCOPE)
  const tokenUsage = meter.createHistogram("gen_ai.client.token.usage", { unit: "{token}" })
  const duration = meter.createHistogram("gen_ai.client.operation.duration", { unit: "s" })
  const hitRatio = meter.createHistogram("strata.fork.cache_hit_ratio", { unit: "1" })
  const saved = meter.createCounter("strata.tokens.saved", { unit: "{token}" })

  const content = (name: string, value: (() => unknown) | undefined): Attributes =>
    exportContent && value ? { [name]: JSON.stringify(value()) } : {}

  function start(
    name: string,
    { kind = SpanKind.INTERNAL, attributes, at = clock.now() }: { kind?: SpanKind; attributes: Attributes; at?: Date },
  ): Span {
    return tracer.startSpan(name, { kind, attributes, startTime: at })
  }

  const end = (span: Span) => span.end(clock.now())
  const inside = <T>(span: Span, work: () => T): T => context.with(trace.setSpan(context.active(), span), work)

  /** Adds a named event to the span, and increments a counter of the same name. */
  function countEvent(span: Span, name: string, count: number): void {
    span.addEvent(name, { count }, clock.now())
    meter.createCounter(name).add(count)
  }

  function recordUsage(span: Span, { model, provider, purpose }: RequestSpan, counts: TokenCounts): void {
    const labels = { "gen_ai.request.model": model, "gen_ai.provider.name": provider, "strata.purpose": purpose }
    const input = inputTokens(counts)
    tokenUsage.record(input, { ...labels, "gen_ai.token.type": "input" })
    tokenUsage.record(counts.output, { ...labels, "gen_ai.token.type": "output" })
    if (purpose === "main" || input === 0) return
    const ratio = counts.cacheRead / input
    span.setAttribute("strata.cache_hit_ratio", ratio)
    hitRatio.record(ratio, labels)
  }

  return {
    query({ conversation, model, provider }) {
      const span = start("invoke_agent", {
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.conversation.id": conversation,
          "gen_ai.request.model": model,
          "gen_ai.provider.name": provider,
        },
      })
      return {
        within: (work) => inside(span, work),
        ended(reason) {
          span.setAttribute("strata.end", reason)
          if (reason === "error") span.setStatus({ code: SpanStatusCode.ERROR })
          end(span)
        },
      }
    },

    request(about) {
      const { sentAt = clock.now() } = about
      const attributes = requestAttributes(about)
      const span = start(`chat ${about.model}`, { kind: SpanKind.CLIENT, attributes, at: sentAt })
      span.setAttributes(content("gen_ai.input.messages", about.input))
      let isOver = false
      const finish = (work: () => Attributes) => {
        if (isOver) return
        isOver = true
        const labels = { ...metricLabels(attributes), ...work() }
        end(span)
        duration.record((clock.now().getTime() - sentAt.getTime()) / 1_000, labels)
      }
      const failed = (error: unknown) => finish(() => markFailed(span, error))
      return {
        answered: (outcome) =>
          finish(() => {
            span.setAttributes({
              ...responseAttributes(outcome),
              ...content("gen_ai.output.messages", outcome.output),
            })
            if (outcome.counts) recordUsage(span, about, outcome.counts)
            return {}
          }),
        failed,
        abandoned: () => failed("aborted"),
      }
    },

    async tool(about, work) {
      const span = start(`execute_tool ${about.name}`, {
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": about.name,
          "gen_ai.tool.call.id": about.callId,
          "gen_ai.conversation.id": about.conversation,
          ...content("gen_ai.tool.call.arguments", about.input),
        },
      })
      try {
        const output = await inside(span, work)
        if (output.isError) markFailed(span, "tool_error")
        span.setAttributes(content("gen_ai.tool.call.result", () => output))
        return output
      } catch (error) {
        markFailed(span, error)
        throw error
      } finally {
        end(span)
      }
    },

    async layer({ conversation, layer }, work) {
      const span = start(`strata.layer ${layer}`, {
        attributes: { "gen_ai.conversation.id": conversation, "strata.layer": layer },
      })
      let hasActed = false
      try {
        return await inside(span, () =>
          work(({ trigger, tokensBefore, tokensAfter, failure, facts = {}, counts = {} }) => {
            hasActed = true
            span.setAttributes({
              ...facts,
              "strata.trigger": trigger,
              "strata.tokens.before": tokensBefore,
              "strata.tokens.after": tokensAfter,
            })
            for (const [name, count] of Object.entries(counts)) countEvent(span, `strata.${name}`, count)
            if (failure) markFailed(span, failure)
            else saved.add(Math.max(0, tokensBefore - tokensAfter), { "strata.layer": layer })
          }),
        )
      } catch (error) {
        hasActed = true
        markFailed(span, error)
        throw error
      } finally {
        if (hasActed) end(span) // a span without an end is never exported: usually a layer has nothing to do
      }
    },

    count(name, attributes = {}, amount = 1) {
      trace.getActiveSpan()?.addEvent(`strata.${name}`, { ...attributes, count: amount }, clock.now())
      meter.createCounter(`strata.${name}`).add(amount, attributes)
    },
  }
}

/** Records only a reason or the error's class, because its text may contain content. */
function markFailed(span: Span, error: unknown): Attributes {
  const type = typeof error === "string" ? error : errorKind(error)
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute("error.type", type)
  return { "error.type": type }
}

/** Removes ids, because metrics must not have one series per conversation. */
function metricLabels({
  "gen_ai.conversation.id": _,
  "gen_ai.request.max_tokens": __,
  "strata.context.id": ___,
  ...labels
}: Attributes): Attributes {
  return labels
}

function requestAttributes(about: RequestSpan): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": about.provider,
    "gen_ai.request.model": about.model,
    "gen_ai.request.max_tokens": about.maxTokens,
    "gen_ai.conversation.id": about.conversation,
    "strata.purpose": about.purpose,
    ...(about.context === undefined ? {} : { "strata.context.id": about.context }),
  }
}

function responseAttributes({ responseId, responseModel, stopReason, counts }: RequestOutcome): Attributes {
  return {
    ...(responseId === undefined ? {} : { "gen_ai.response.id": responseId }),
    ...(responseModel === undefined ? {} : { "gen_ai.response.model": responseModel }),
    ...(stopReason === undefined ? {} : { "gen_ai.response.finish_reasons": [stopReason] }),
    ...(counts === undefined
      ? {}
      : {
          "gen_ai.usage.input_tokens": inputTokens(counts), // the convention includes cached tokens
          "gen_ai.usage.output_tokens": counts.output,
          "gen_ai.usage.cache_read.input_tokens": counts.cacheRead,
          "gen_ai.usage.cache_write.input_tokens": counts.cacheWrite5m + counts.cacheWrite1h,
        }),
  }
}
