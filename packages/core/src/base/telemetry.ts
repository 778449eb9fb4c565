/**
 * Telemetry through the OpenTelemetry API, following its conventions for generative AI. Without an exporter every call does
 * nothing. Content is exported only if `exportContent` is set.
 */
import { type Attributes, context, metrics, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api"
import { inputTokens, type TokenCounts } from "./token-counts.ts"

const SCOPE = "@strata/core"

export type FailureReason = "no_summary" | "api_error" | "prompt_too_long" | "threshold_exceeded" | "aborted"

export interface RequestSpan {
  readonly conversation: string
  readonly model: string
  readonly maxTokens: number
  readonly purpose: string
}

export interface RequestOutcome {
  readonly responseId?: string
  readonly responseModel?: string
  readonly stopReason?: string
  readonly counts?: TokenCounts
}

export interface LayerSpan {
  readonly conversation: string
  readonly layer: string
  readonly trigger: string
}

export interface LayerOutcome {
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** How many of what, such as `memories.written`. */
  readonly counts?: Readonly<Record<string, number>>
  readonly failure?: FailureReason
}

export interface Telemetry {
  request<T>(about: RequestSpan, work: (finish: (outcome: RequestOutcome) => void) => Promise<T>): Promise<T>
  /** For loops that call the model themselves: reports a response after the fact. */
  recorded(about: RequestSpan, outcome: RequestOutcome): void
  tool<T>(
    about: { readonly conversation: string; readonly name: string; readonly callId: string },
    work: () => Promise<T>,
  ): Promise<T>
  layer<T>(about: LayerSpan, work: (finish: (outcome: LayerOutcome) => void) => Promise<T>): Promise<T>
  /** Content as attributes of a span. Empty unless `exportContent` is set. */
  content(name: string, value: () => string): Attributes
}

export function createTelemetry({ exportContent = false }: { exportContent?: boolean } = {}): Telemetry {
  const tracer = trace.getTracer(SCOPE)
  const meter = metrics.getMeter(SCOPE)
  const tokenUsage = meter.createHistogram("gen_ai.client.token.usage", { unit: "{token}" })
  const duration = meter.createHistogram("gen_ai.client.operation.duration", { unit: "s" })
  const saved = meter.createCounter("strata.tokens.saved", { unit: "{token}" })

  async function inSpan<T>(
    name: string,
    options: { kind: SpanKind; attributes: Attributes },
    work: (span: Span) => Promise<T>,
  ) {
    const span = tracer.startSpan(name, options)
    const started = performance.now()
    try {
      return await context.with(trace.setSpan(context.active(), span), () => work(span))
    } catch (error) {
      // only the class: the text of an error may contain content
      span.setStatus({ code: SpanStatusCode.ERROR })
      span.setAttribute("error.type", error instanceof Error ? error.name : typeof error)
      throw error
    } finally {
      span.end()
      if (options.kind === SpanKind.CLIENT)
        duration.record((performance.now() - started) / 1000, metricLabels(options.attributes))
    }
  }

  /** A named event on the span, and a counter of the same name. */
  function countEvent(span: Span, name: string, count: number): void {
    span.addEvent(name, { count })
    meter.createCounter(name).add(count)
  }

  function finishRequest(span: Span, about: RequestSpan, outcome: RequestOutcome): void {
    span.setAttributes(responseAttributes(outcome))
    const { counts } = outcome
    if (!counts) return
    const labels = {
      "gen_ai.request.model": about.model,
      "gen_ai.provider.name": "anthropic",
      "strata.purpose": about.purpose,
    }
    tokenUsage.record(inputTokens(counts), { ...labels, "gen_ai.token.type": "input" })
    tokenUsage.record(counts.output, { ...labels, "gen_ai.token.type": "output" })
  }

  return {
    request: (about, work) =>
      inSpan(`chat ${about.model}`, { kind: SpanKind.CLIENT, attributes: requestAttributes(about) }, (span) =>
        work((outcome) => finishRequest(span, about, outcome)),
      ),

    recorded(about, outcome) {
      const span = tracer.startSpan(`chat ${about.model}`, {
        kind: SpanKind.CLIENT,
        attributes: requestAttributes(about),
      })
      finishRequest(span, about, outcome)
      span.end()
    },

    tool: (about, work) =>
      inSpan(
        `execute_tool ${about.name}`,
        {
          kind: SpanKind.INTERNAL,
          attributes: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": about.name,
            "gen_ai.tool.call.id": about.callId,
            "gen_ai.conversation.id": about.conversation,
          },
        },
        work,
      ),

    layer: (about, work) => {
      const attributes = {
        "gen_ai.conversation.id": about.conversation,
        "strata.layer": about.layer,
        "strata.trigger": about.trigger,
      }
      return inSpan(`strata.layer ${about.layer}`, { kind: SpanKind.INTERNAL, attributes }, (span) =>
        work(({ tokensBefore, tokensAfter, failure, counts = {} }) => {
          span.setAttributes({ "strata.tokens.before": tokensBefore, "strata.tokens.after": tokensAfter })
          for (const [name, count] of Object.entries(counts)) countEvent(span, `strata.${name}`, count)
          if (failure) {
            span.setStatus({ code: SpanStatusCode.ERROR })
            span.setAttribute("error.type", failure)
          } else saved.add(Math.max(0, tokensBefore - tokensAfter), { "strata.layer": about.layer })
        }),
      )
    },

    content: (name, value) => (exportContent ? { [name]: value() } : {}),
  }
}

/** Leaves out the conversation id: metrics must not have one series per conversation. */
function metricLabels({ "gen_ai.conversation.id": _, ...labels }: Attributes): Attributes {
  return labels
}

function requestAttributes(about: RequestSpan): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": about.model,
    "gen_ai.request.max_tokens": about.maxTokens,
    "gen_ai.conversation.id": about.conversation,
    "strata.purpose": about.purpose,
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
