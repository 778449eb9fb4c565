/** The telemetry of an agent at work, through the OpenTelemetry SDK. The model moves the clock, so every span's time is known. */
import { AsyncLocalStorage } from "node:async_hooks"
import {
  type Context,
  type ContextManager,
  context,
  metrics,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api"
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { z } from "zod/v4"
import { openAgent } from "../../../src/agent/open-agent.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { memoryStore } from "../../../src/journal/memory-store.ts"
import { OverloadedError } from "../../../src/model/errors.ts"
import type { Model, ModelResponse } from "../../../src/model/model.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { defineTool } from "../../../src/tools/define-tool.ts"
import { scratchDirectory } from "../../tool-context.ts"

const MODEL = "claude-opus-4-6"
const SECRET = "the password is hunter2"
const SUMMARY = `<summary>\n1. Primary Request and Intent: ${SECRET}\n</summary>`

let spans: InMemorySpanExporter
let provider: TracerProvider

beforeEach(() => {
  spans = new InMemorySpanExporter()
  provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(asyncContexts())
})

afterEach(async () => {
  trace.disable()
  metrics.disable()
  context.disable()
  await provider.shutdown()
})

describe("TEL-1 a run with two failures and a compaction", () => {
  test("every span has the time of its work, and the query's span is their parent", async () => {
    const { agent, clock } = await openTraced()
    const started = clock.now().getTime()
    await expect(agent.ask(SECRET)).rejects.toThrow()
    await agent.ask("Try again.")
    await agent.conversation.compact()
    await agent.close()

    const found = spans.getFinishedSpans()
    const requests = found.filter(({ name }) => name === `chat ${MODEL}`)
    expect(requests.map((span) => [span.attributes["strata.purpose"], milliseconds(span), failureOf(span)])).toEqual([
      ["main", 1_500, "OverloadedError"],
      ["main", 2_000, undefined],
      ["main", 300, undefined],
      ["compaction", 4_000, undefined],
    ])
    expect(requests.map(({ attributes }) => attributes["gen_ai.provider.name"])).toEqual(Array(4).fill("test"))
    const [tool] = found.filter(({ name }) => name === "execute_tool Break")
    expect([milliseconds(tool!), failureOf(tool!)]).toEqual([700, "tool_error"])
    const queries = found.filter(({ name }) => name === "invoke_agent")
    expect(queries.map((span) => [span.attributes["strata.end"], milliseconds(span), span.status.code])).toEqual([
      ["error", 1_500, SpanStatusCode.ERROR],
      ["answer", 3_000, SpanStatusCode.UNSET],
    ])
    const parents = requests.map((span) => found.find((each) => idOf(each) === span.parentSpanContext?.spanId)?.name)
    expect(parents).toEqual(["invoke_agent", "invoke_agent", "invoke_agent", "strata.layer compaction"])
    expect(tool!.parentSpanContext?.spanId).toBe(idOf(queries[1]!))
    const layer = found.find(({ name }) => name === "strata.layer compaction")!
    expect(milliseconds(layer)).toBe(4_000)
    expect(Math.min(...found.map(({ startTime }) => toMs(startTime)))).toBe(started)
  })

  test("content is exported only where it is switched on", async () => {
    for (const exportContent of [false, true]) {
      spans.reset()
      const { agent } = await openTraced({ exportContent })
      await agent.ask(SECRET).catch(() => undefined)
      await agent.ask("Try again.")
      await agent.close()
      const said = JSON.stringify(
        spans.getFinishedSpans().map(({ name, attributes, events }) => ({ name, attributes, events })),
      )
      expect(said.includes("hunter2")).toBe(exportContent)
      expect(said.includes("broken on purpose")).toBe(exportContent)
    }
  })

  test("an own loop's request lasts from prepare to record", async () => {
    const clock = manualClock()
    const chat = await openConversation({ model: MODEL, store: memoryStore(), clock, env: {}, dir: scratchDirectory() })
    await chat.add("Is it done?")
    await chat.prepare()
    clock.advance(2_500)
    await chat.record({ id: "msg_1", model: MODEL, content: [{ type: "text", text: "Yes." }], stop_reason: "end_turn" })
    await chat.close()
    const [span] = spans.getFinishedSpans().filter(({ name }) => name === `chat ${MODEL}`)
    expect(milliseconds(span!)).toBe(2_500)
    expect(span!.attributes["gen_ai.provider.name"]).toBe("anthropic")
  })
})

async function openTraced({ exportContent = false } = {}) {
  const clock = manualClock()
  const turns: (() => ModelResponse)[] = [
    () => {
      clock.advance(1_500)
      throw new OverloadedError({ provider: "test" })
    },
    after(2_000, [{ type: "tool_use", id: "toolu_1", name: "Break", input: {} }]),
    after(300, [{ type: "text", text: "Done." }]),
    after(4_000, [{ type: "text", text: SUMMARY }]),
  ]
  function after(ms: number, content: readonly object[]) {
    return (): ModelResponse => {
      clock.advance(ms)
      const isCall = "input" in content[0]!
      const usage = { input_tokens: 50_000, output_tokens: 10 }
      return { id: `msg_${ms}`, model: MODEL, content, stop_reason: isCall ? "tool_use" : "end_turn", usage }
    }
  }
  const model: Model = {
    name: MODEL,
    provider: "test",
    facts: findModel(MODEL).facts,
    async *stream() {
      yield { type: "response", response: turns.shift()!() }
    },
  }
  const breaking = defineTool({
    name: "Break",
    description: "Fails.",
    inputSchema: z.object({}),
    readOnly: true,
    async execute() {
      clock.advance(700)
      return { content: "broken on purpose", isError: true }
    },
  })
  const cwd = scratchDirectory()
  const agent = await openAgent({
    ...{ model, clock, cwd, dir: cwd, env: {}, store: memoryStore(), tools: [breaking] },
    settings: { exportContent, memory: "off" },
  })
  return { agent, clock }
}

const toMs = ([seconds, nanoseconds]: readonly [number, number]) => seconds * 1_000 + nanoseconds / 1_000_000
const milliseconds = ({ duration }: ReadableSpan) => toMs(duration)
const idOf = (span: ReadableSpan) => span.spanContext().spanId
const failureOf = ({ status, attributes }: ReadableSpan) =>
  status.code === SpanStatusCode.ERROR ? attributes["error.type"] : undefined

/** What the SDK for Node registers. */
function asyncContexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  return {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...rest) => storage.run(active, () => work.apply(self, rest)),
    bind: (_, target) => target,
    enable() {
      return this
    },
    disable() {
      storage.disable()
      return this
    },
  }
}
