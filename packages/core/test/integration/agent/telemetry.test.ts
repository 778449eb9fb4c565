/** The telemetry of a running agent, through the OpenTelemetry SDK. The model moves the clock, so every span's time is known. */
import { AsyncLocalStorage } from "node:async_hooks"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  type Context,
  type ContextManager,
  context,
  metrics,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api"
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics"
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { z } from "zod/v4"
import { openAgent } from "../../../src/agent/open-agent.ts"
import { fileTools } from "../../../src/agent/tools/coding-tools.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { OverloadedError, PromptTooLongError } from "../../../src/model/errors.ts"
import type { Model, ModelResponse } from "../../../src/model/model.ts"
import { openTeamAgent } from "../../../src/team/open-team.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { defineTool } from "../../../src/tools/define-tool.ts"
import { entriesOf } from "../../open.ts"
import { scratchDirectory } from "../../tool-context.ts"
import { compactingAgent, compactingSimulator, NOTES_OF } from "../compaction/compacting.ts"
import { rounds } from "../layers/conversations.ts"
import { ask } from "./agents.ts"

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
      ["main", 1_500, "overloaded"],
      ["main", 2_000, undefined],
      ["main", 300, undefined],
      ["by-hand", 4_000, undefined],
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
    const times = found.map((span) => [span.name, toMs(span.startTime) - started, milliseconds(span)])
    expect(times).toEqual([
      [`chat ${MODEL}`, 0, 1_500],
      ["invoke_agent", 0, 1_500],
      [`chat ${MODEL}`, 1_500, 2_000],
      ["execute_tool Break", 3_500, 700],
      [`chat ${MODEL}`, 4_200, 300],
      ["invoke_agent", 1_500, 3_000],
      [`chat ${MODEL}`, 4_500, 4_000],
      ["strata.layer compaction", 4_500, 4_000],
    ])
  })

  test("content is exported only where it is switched on", async () => {
    for (const exportContent of [false, true]) {
      spans.reset()
      const { agent } = await openTraced({ exportContent })
      await agent.ask(SECRET).catch(() => undefined)
      await agent.ask("Try again.")
      await agent.close()
      const exported = JSON.stringify(
        spans.getFinishedSpans().map(({ name, attributes, events }) => ({ name, attributes, events })),
      )
      expect(exported.includes("hunter2")).toBe(exportContent)
      expect(exported.includes("broken on purpose")).toBe(exportContent)
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

test("TEL-2, LOOP-9, L4-33 requests name their source and their context; what happened is counted by name: files restored and failed, results cleared, agents", async () => {
  const meters = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: meters, exportIntervalMillis: 2 ** 30 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  metrics.setGlobalMeterProvider(meterProvider)
  const clock = manualClock()
  const cwd = scratchDirectory()
  const files = ["kept.txt", "gone.txt", "c.txt", "d.txt", "e.txt"]
  for (const name of files) writeFileSync(join(cwd, name), `This is ${name}. `.repeat(50))
  const reading = (...names: string[]) =>
    names.map((name) => ({ type: "tool_use", id: `toolu_${name}`, name: "Read", input: { file_path: name } }))
  const say = (text: string) => [{ type: "text", text }]
  const starting = { description: "look", prompt: "Look." }
  const turns: (readonly object[])[] = [
    reading("kept.txt", "gone.txt"),
    [{ type: "tool_use", id: "toolu_agent", name: "Agent", input: starting }],
    say("Nothing found."), // the sub-agent's answer
    say("Done."),
    say("<summary>\n1. Primary Request and Intent: Read two files, then look around.\n</summary>"),
    reading("c.txt", "d.txt", "e.txt"),
    say("Read."),
    say("Again."),
  ]
  const model: Model = {
    name: MODEL,
    provider: "test",
    facts: findModel(MODEL).facts,
    async *stream() {
      const content = turns.shift()!
      const stop_reason = content.some((block) => "input" in block) ? "tool_use" : "end_turn"
      const usage = { input_tokens: 50_000, output_tokens: 10 }
      const isLast = turns.length === 0
      const applied_edits = [{ type: "clear_tool_uses_20250919", cleared_tool_uses: 4 }]
      const edited = isLast ? { context_management: { applied_edits } } : {}
      yield {
        type: "response",
        response: { id: `msg_${turns.length}`, model: MODEL, content, stop_reason, usage, ...edited },
      }
    },
  }
  const agent = await openTeamAgent({
    ...{ model, clock, cwd, dir: scratchDirectory(), env: {}, store: memoryStore(), tools: fileTools, agents: true },
    settings: { planner: "off", memory: "off", switches: { notes: false }, figures: { "idle-keep": 2 } },
  })
  await agent.ask("Read two files, then look around.")
  rmSync(join(cwd, "gone.txt"))
  await agent.conversation.compact()
  await agent.ask("Read the others.")
  clock.advance(61 * 60_000)
  await agent.ask("Go on.")
  await agent.conversation.clearResults({ tool: "Read", keep: 1 })
  await agent.close()

  await meterProvider.forceFlush()
  const counted = meters
    .getMetrics()
    .at(-1)!
    .scopeMetrics.flatMap((scope) => scope.metrics)
    .filter(({ descriptor }) => /files|results|agents/.test(descriptor.name))
    .map(({ descriptor, dataPoints }) => [
      descriptor.name,
      dataPoints.map(({ value, attributes }) => ({ value, ...attributes })),
    ])
  await meterProvider.shutdown()
  expect(Object.fromEntries(counted)).toEqual({
    "strata.files.restored": [{ value: 1 }],
    "strata.files.failed": [{ value: 1 }],
    "strata.results.cleared.by-time": [{ value: 1 }],
    "strata.results.cleared.by-hand": [{ value: 1 }],
    "strata.results.cleared.by-api": [{ value: 4 }],
    "strata.agents.started": [{ value: 1, "strata.agent.kind": "wait" }],
    "strata.agents.ended": [{ value: 1, "strata.agent.status": "completed" }],
  })
  const requests = spans.getFinishedSpans().filter(({ name }) => name === `chat ${MODEL}`)
  expect(requests.map(({ attributes }) => attributes["strata.purpose"])).toEqual(
    "main main agent main by-hand main main main".split(" "),
  )
  const { contexts, context: present } = engineOf(agent.conversation).views.ledger
  const [first, second] = [...contexts.keys()]
  expect(contexts.size).toBe(2)
  expect(second).toBe(present)
  expect(second).toBe(engineOf(agent.conversation).views.compactions.last?.boundary)
  const ofLead = requests.filter(({ attributes }) => attributes["strata.purpose"] !== "agent")
  expect(ofLead.map(({ attributes }) => attributes["strata.context.id"])).toEqual([
    ...Array(4).fill(first),
    ...Array(3).fill(second),
  ])
  const ofAgent = requests.find(({ attributes }) => attributes["strata.purpose"] === "agent")!
  expect([undefined, first, second]).not.toContain(ofAgent.attributes["strata.context.id"])
  const acted = spans.getFinishedSpans().filter(({ name }) => name.startsWith("strata.layer "))
  expect(acted.map(({ name, attributes }) => `${name.slice(13)} ${attributes["strata.trigger"]}`)).toEqual([
    ...["compaction manual", "microcompact by-time", "microcompact manual"],
  ])
  const events = spans.getFinishedSpans().flatMap((span) => span.events.map(({ name }) => `${span.name}: ${name}`))
  expect(events.toSorted()).toEqual([
    "execute_tool Agent: strata.agents.ended",
    "execute_tool Agent: strata.agents.started",
    "invoke_agent: strata.results.cleared.by-api",
    "strata.layer compaction: strata.files.failed",
    "strata.layer compaction: strata.files.restored",
    "strata.layer microcompact: strata.results.cleared.by-hand",
    "strata.layer microcompact: strata.results.cleared.by-time",
  ])
})

test("TEL-1, L4-4, LOOP-9 a layer's span says what set it off, what it cost, and how a compaction follows the last", async () => {
  const clock = manualClock()
  const tooLong = new PromptTooLongError({}, { provider: "test", providerMessage: "prompt is too long" })
  const say = (text: string) => [{ type: "text", text }]
  const turns: (readonly object[] | Error)[] = [
    ...[say("One."), say(SUMMARY), say("Two."), tooLong, say(SUMMARY), say("Three.")],
  ]
  const usage = { input_tokens: 1_000, output_tokens: 10, cache_read_input_tokens: 49_000 }
  const model: Model = {
    name: MODEL,
    provider: "test",
    facts: findModel(MODEL).facts,
    async *stream() {
      const content = turns.shift()!
      if (content instanceof Error) throw content
      const response = { id: `msg_${turns.length}`, model: MODEL, content, stop_reason: "end_turn", usage }
      yield { type: "response", response } as never
    },
  }
  const agent = await openAgent({
    ...{ model, clock, cwd: scratchDirectory(), dir: scratchDirectory(), env: {}, store: memoryStore(), tools: [] },
    settings: {
      planner: "off",
      memory: "off",
      switches: { notes: false, "compact-audit": false, "compact-ahead": false },
    },
  })
  await agent.ask(`Read this. ${"Some words. ".repeat(5_000)}`)
  await agent.conversation.compact()
  await agent.ask(`And this. ${"More words. ".repeat(5_000)}`)
  await agent.ask("Go on.")
  const entries = await entriesOf(agent.conversation)
  await agent.close()
  expect(entries.flatMap((entry) => ("boundary" in entry ? (entry.source ?? "none") : []))).toEqual(["main", "main"])
  const layers = spans.getFinishedSpans().filter(({ name }) => name === "strata.layer compaction")
  const spent = {
    "strata.spent.requests": 1,
    "strata.spent.output_tokens": 10,
    "strata.spent.cache_read_tokens": 49_000,
  }
  expect(layers[0]!.attributes).not.toHaveProperty(["strata.compaction.notes"])
  expect(layers.map(({ attributes }) => attributes)).toMatchObject([
    { "strata.trigger": "manual", "strata.source": "main", "strata.compaction.chained": false, ...spent },
    {
      ...{
        "strata.trigger": "reactive",
        "strata.compaction.notes": "off",
        "strata.compaction.chained": true,
        "strata.compaction.responses": 1,
        ...spent,
      },
      "strata.compaction.previous": layers[0]!.attributes["strata.compaction.id"],
    },
  ])
})

test("L4-5, TEL-1 a compaction says that the notes are its summary, what they cost, and what was compacted", async () => {
  const { sim } = await compactingSimulator(rounds(40, 2_000), NOTES_OF("The words are read, one by one."))
  const switches = { "compact-ahead": true, "clear-by-api": false, "clear-by-size": false }
  const agent = await compactingAgent(sim, { window: 80_000, settings: { switches } })
  await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
  await agent.close()
  const [first] = spans.getFinishedSpans().filter(({ name }) => name === "strata.layer compaction")
  expect(first!.attributes).toMatchObject({
    "strata.compaction.route": "notes",
    "strata.compaction.notes": "used",
    "strata.prepared.requests": 1,
    "strata.compacted.repeated_reads": 0,
  })
  const tokens = (kind: string) => Number(first!.attributes[`strata.compacted.tokens.${kind}`])
  expect(tokens("tool_results")).toBeGreaterThan(20_000)
  expect(tokens("human")).toBeGreaterThan(0)
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

/** The context manager that the SDK for Node registers. */
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
