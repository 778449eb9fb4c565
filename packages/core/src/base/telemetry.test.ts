import { type Attributes, context, metrics, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api"
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics"
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { openTestConversation } from "../../test/open.ts"
import { manualClock } from "./clock.ts"
import { StrataError } from "./errors.ts"
import { type CompactionFailureReason, createTelemetry } from "./telemetry.ts"

const ABOUT = {
  conversation: "c1",
  model: "claude-opus-4-6",
  provider: "anthropic",
  maxTokens: 32_000,
  purpose: "main" as const,
}
const COUNTS = { input: 10, output: 40, cacheWrite5m: 200, cacheWrite1h: 300, cacheRead: 5_000 }
const OUTPUT = { content: "done", isError: false }
const SECRET = "the password is hunter2"

describe("TEL-1 with the OpenTelemetry SDK", () => {
  let spans: InMemorySpanExporter
  let metricExporter: InMemoryMetricExporter
  let meterProvider: MeterProvider
  let tracerProvider: TracerProvider

  beforeEach(() => {
    spans = new InMemorySpanExporter()
    tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] })
    trace.setGlobalTracerProvider(tracerProvider)
    metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    meterProvider = new MeterProvider({
      readers: [new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 2 ** 30 })],
    })
    metrics.setGlobalMeterProvider(meterProvider)
  })
  afterEach(async () => {
    trace.disable()
    metrics.disable()
    context.disable()
    await tracerProvider.shutdown()
    await meterProvider.shutdown()
  })

  function onlySpan(): ReadableSpan {
    const finished = spans.getFinishedSpans()
    expect(finished).toHaveLength(1)
    return finished[0]!
  }

  /** Data points of a metric with their values and attributes. */
  async function pointsOf(name: string): Promise<{ attributes: Attributes; value: unknown }[]> {
    metricExporter.reset()
    await meterProvider.forceFlush()
    return metricExporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => ({ attributes, value })))
  }

  test("a request is a client span named after operation and model", async () => {
    const answer = { responseId: "msg_1", responseModel: "claude-opus-4-6-x", stopReason: "end_turn", counts: COUNTS }
    createTelemetry().request(ABOUT).answered(answer)
    const span = onlySpan()
    expect(span.name).toBe("chat claude-opus-4-6")
    expect(span.kind).toBe(SpanKind.CLIENT)
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude-opus-4-6",
      "gen_ai.request.max_tokens": 32_000,
      "gen_ai.conversation.id": "c1",
      "strata.purpose": "main",
      "gen_ai.response.id": "msg_1",
      "gen_ai.response.model": "claude-opus-4-6-x",
      "gen_ai.response.finish_reasons": ["end_turn"],
      "gen_ai.usage.input_tokens": 10 + 200 + 300 + 5_000, // the convention includes cached tokens
      "gen_ai.usage.output_tokens": 40,
      "gen_ai.usage.cache_read.input_tokens": 5_000,
      "gen_ai.usage.cache_write.input_tokens": 200 + 300,
    })
  })

  test("a request counts its tokens and its duration", async () => {
    const clock = manualClock()
    const request = createTelemetry({ clock }).request(ABOUT)
    clock.advance(1_500)
    request.answered({ counts: COUNTS })
    const labels = {
      "gen_ai.request.model": "claude-opus-4-6",
      "gen_ai.provider.name": "anthropic",
      "strata.purpose": "main",
    }
    expect(await pointsOf("gen_ai.client.token.usage")).toEqual([
      {
        attributes: { ...labels, "gen_ai.token.type": "input" },
        value: expect.objectContaining({ count: 1, sum: 5_510 }),
      },
      {
        attributes: { ...labels, "gen_ai.token.type": "output" },
        value: expect.objectContaining({ count: 1, sum: 40 }),
      },
    ])
    const durations = await pointsOf("gen_ai.client.operation.duration")
    expect(durations.map(({ value }) => (value as { sum: number }).sum)).toEqual([1.5])
    expect(onlySpan().duration).toEqual([1, 500_000_000])
  })

  test("only the first end of a request counts", async () => {
    const request = createTelemetry().request(ABOUT)
    request.failed(new RangeError("no"))
    request.answered({ counts: COUNTS })
    request.abandoned()
    expect(onlySpan().attributes).toMatchObject({ "error.type": "RangeError" })
    expect(await pointsOf("gen_ai.client.token.usage")).toEqual([])
  })

  test("an error without a class of its own is named by its code", () => {
    createTelemetry()
      .request(ABOUT)
      .failed(new StrataError("no", { code: "socket" }))
    expect(onlySpan().attributes).toMatchObject({ "error.type": "socket" })
  })

  test("TEL-2 a fork's request says how much of it was read from the cache", async () => {
    createTelemetry()
      .request({ ...ABOUT, purpose: "compaction" })
      .answered({ counts: COUNTS })
    expect(onlySpan().attributes).toMatchObject({ "strata.cache_hit_ratio": 5_000 / 5_510 })
    const [ratio] = await pointsOf("strata.fork.cache_hit_ratio")
    expect(ratio?.value).toMatchObject({ count: 1, sum: 5_000 / 5_510 })
  })

  test("a response without usage invents no numbers", async () => {
    createTelemetry().request(ABOUT).answered({ responseId: "msg_1" })
    const keys = Object.keys(onlySpan().attributes)
    expect(keys.filter((key) => key.startsWith("gen_ai.usage"))).toEqual([])
    expect(await pointsOf("gen_ai.client.token.usage")).toEqual([])
  })

  test("a tool is a span of its own", async () => {
    const result = await createTelemetry().tool(
      { conversation: "c1", name: "Read", callId: "toolu_1" },
      async () => OUTPUT,
    )
    expect(result).toBe(OUTPUT)
    const { name, kind, attributes } = onlySpan()
    expect({ name, kind }).toEqual({ name: "execute_tool Read", kind: SpanKind.INTERNAL })
    expect(attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "Read",
      "gen_ai.tool.call.id": "toolu_1",
      "gen_ai.conversation.id": "c1",
    })
  })

  test("a layer's action says trigger, tokens before and after, and counts what it saved", async () => {
    const about = { conversation: "c1", layer: "tool-results" }
    const trigger = "idle"
    await createTelemetry().layer(about, async (finish) =>
      finish({ trigger, tokensBefore: 90_000, tokensAfter: 30_000 }),
    )
    const { name, kind, attributes, status } = onlySpan()
    expect({ name, kind, status: status.code }).toEqual({
      name: "strata.layer tool-results",
      kind: SpanKind.INTERNAL,
      status: SpanStatusCode.UNSET,
    })
    expect(attributes).toEqual({
      "gen_ai.conversation.id": "c1",
      "strata.layer": "tool-results",
      "strata.trigger": "idle",
      "strata.tokens.before": 90_000,
      "strata.tokens.after": 30_000,
    })
    expect(await pointsOf("strata.tokens.saved")).toEqual([
      { attributes: { "strata.layer": "tool-results" }, value: 60_000 },
    ])
  })

  test("TEL-2 what a layer counted is a named event on its span, and a counter", async () => {
    const about = { conversation: "c1", layer: "auto-memory" }
    const trigger = "memory-extracted"
    const counts = { "memories.written": 2 }
    for (let times = 0; times < 2; times++)
      await createTelemetry().layer(about, async (finish) =>
        finish({ trigger, tokensBefore: 10, tokensAfter: 10, counts }),
      )
    const events = spans.getFinishedSpans().flatMap((span) => span.events)
    expect(events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ["strata.memories.written", { count: 2 }],
      ["strata.memories.written", { count: 2 }],
    ])
    expect(await pointsOf("strata.memories.written")).toEqual([{ attributes: {}, value: 4 }])
  })

  test("an action that made the context larger saved nothing", async () => {
    const about = { conversation: "c1", layer: "notes" }
    const trigger = "growth"
    await createTelemetry().layer(about, async (finish) => finish({ trigger, tokensBefore: 10, tokensAfter: 30 }))
    expect(await pointsOf("strata.tokens.saved")).toEqual([{ attributes: { "strata.layer": "notes" }, value: 0 }])
  })

  const REASONS: readonly CompactionFailureReason[] = [
    "no_summary",
    "api_error",
    "prompt_too_long",
    "threshold_exceeded",
    "aborted",
  ]
  test.each(REASONS)("a failed action says why: %s", async (failure) => {
    const about = { conversation: "c1", layer: "compact" }
    const trigger = "auto"
    await createTelemetry().layer(about, async (finish) =>
      finish({ trigger, tokensBefore: 90, tokensAfter: 10, failure }),
    )
    const { attributes, status } = onlySpan()
    expect(status.code).toBe(SpanStatusCode.ERROR)
    expect(attributes["error.type"]).toBe(failure)
    expect(await pointsOf("strata.tokens.saved")).toEqual([])
  })

  test.each([
    [
      "a tool",
      (work: () => Promise<never>) => createTelemetry().tool({ conversation: "c", name: "t", callId: "i" }, work),
    ],
    ["a layer", (work: () => Promise<never>) => createTelemetry().layer({ conversation: "c", layer: "l" }, work)],
  ])(
    "%s that throws ends its span with the error's class, never its text, and the error goes on",
    async (_name, run) => {
      const error = new RangeError(SECRET)
      await expect(run(() => Promise.reject(error))).rejects.toBe(error)
      const span = onlySpan()
      expect(span.status).toEqual({ code: SpanStatusCode.ERROR })
      expect(span.attributes["error.type"]).toBe("RangeError")
      expect(span.events).toEqual([])
      expect(everythingIn(span)).not.toContain("hunter2")
    },
  )

  test("a layer that did nothing leaves no span", async () => {
    expect(await createTelemetry().layer({ conversation: "c", layer: "notes" }, async () => "nothing")).toBe("nothing")
    expect(spans.getFinishedSpans()).toEqual([])
  })

  test("a tool that reports an error has a failed span", async () => {
    const about = { conversation: "c", name: "Bash", callId: "i" }
    await createTelemetry().tool(about, async () => ({ content: SECRET, isError: true }))
    const span = onlySpan()
    expect(span.status.code).toBe(SpanStatusCode.ERROR)
    expect(span.attributes["error.type"]).toBe("tool_error")
    expect(everythingIn(span)).not.toContain("hunter2")
  })

  test("a conversation exports a span for each response, and none of the messages", async () => {
    const chat = await openTestConversation({ system: SECRET })
    await chat.add({ role: "user", content: SECRET })
    await chat.prepare()
    await chat.record({
      id: "msg_1",
      model: "claude-opus-4-6",
      content: [{ type: "text", text: SECRET }],
      stop_reason: "end_turn",
      usage: { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 100 },
    })
    const span = onlySpan()
    expect(span.name).toBe("chat claude-opus-4-6")
    expect(span.attributes).toMatchObject({ "gen_ai.conversation.id": "test", "gen_ai.usage.input_tokens": 107 })
    await meterProvider.forceFlush()
    expect(everythingIn(span) + JSON.stringify(metricExporter.getMetrics())).not.toContain("hunter2")
  })
})

test("TEL-1 with no provider registered everything works and costs no span", async () => {
  const telemetry = createTelemetry()
  telemetry.request(ABOUT).answered({ counts: COUNTS })
  expect(telemetry.query(ABOUT).within(() => "q")).toBe("q")
  expect(await telemetry.tool({ conversation: "c", name: "t", callId: "i" }, async () => OUTPUT)).toBe(OUTPUT)
  expect(await telemetry.layer({ conversation: "c", layer: "l" }, async () => "l")).toBe("l")
  const error = new Error("as it was")
  await expect(telemetry.layer({ conversation: "c", layer: "l" }, () => Promise.reject(error))).rejects.toBe(error)
  expect(trace.getTracer("@strata/core").startSpan("x").isRecording()).toBe(false)
})

/** Everything that an exporter could send about a span. */
function everythingIn({ name, attributes, events, status, links, resource }: ReadableSpan): string {
  return JSON.stringify({ name, attributes, events, status, links, resource: resource.attributes })
}
