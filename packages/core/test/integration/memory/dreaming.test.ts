import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { trace } from "@opentelemetry/api"
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"
import { describe, expect, onTestFinished, test } from "vitest"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import type { SimulatorOptions } from "../../../../sim/src/start.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { DreamState } from "../../../src/layers/6-dreaming/dream-task.ts"
import { FIGURES, memoryText, OTHERS as OTHER_MEMORIES } from "../../dreams.ts"
import { isWhole } from "../../size.ts"
import { agentFor, project } from "../agent/agents.ts"
import { memoryIn, say } from "./remembering.ts"

const OTHERS = ["a", "b", "c", "d", "e"]

interface Setup {
  readonly conversations?: readonly string[]
  readonly rateLimits?: SimulatorOptions["rateLimits"]
}

/** A project with two equivalent memories, and five earlier conversations. */
async function stage({ conversations = OTHERS, rateLimits = {} }: Setup = {}) {
  const where = project()
  const memory = memoryIn(where)
  mkdirSync(memory, { recursive: true })
  writeFileSync(join(memory, "port.md"), memoryText("Port", "The port is 8080.", { confirmed: "2026-01-01" }))
  writeFileSync(join(memory, "server.md"), memoryText("Server", "The port is 8080.", { confirmed: "2026-03-01" }))
  for (const [file, text] of Object.entries(OTHER_MEMORIES)) writeFileSync(join(memory, file), text)
  for (const id of conversations) writeFileSync(join(dirname(memory), `${id}.jsonl`), "")
  const dreamRequests: string[] = []
  const sim = await simulator({
    rateLimits,
    responder: {
      name: "dreamer",
      async answer(turn) {
        const dreamed = extractiveAnswer(turn)
        if (dreamed) dreamRequests.push(JSON.stringify(turn.request))
        return dreamed ?? { content: [{ type: "text", text: "Done." }] }
      },
    },
  })
  const open = (switches = {}, figures = {}) =>
    agentFor(sim, where, {
      clock: { now: () => new Date(sim.clock.now()) },
      settings: {
        switches: { "auto-memory": false, notes: false, ...switches },
        figures: { "background-share": 100, ...figures },
      },
    })
  return {
    ...{ sim, where, memory, open, dreamRequests },
    isSuperseded: () => readFileSync(join(memory, "port.md"), "utf8").includes("superseded-by: server.md"),
  }
}

describe("L6-1 L6-5 an agent dreams after a query", () => {
  test("L6-1 L5-9 with five other conversations it dreams in the background, and what it cost is in the ledger", async () => {
    const { sim, open, dreamRequests, isSuperseded } = await stage()
    const agent = await open()
    const seen: DreamState[] = []
    const acted: string[] = []
    agent.dreaming!.on((state) => seen.push(state))
    agent.conversation.on("layerActed", ({ layer, message }) => acted.push(`${layer}: ${message}`))
    await say(agent, "Hello")
    expect(seen.at(-1)).toMatchObject({ status: "completed", phase: "updating", files: ["server.md"] })
    expect(isSuperseded()).toBe(true)
    expect(acted.filter((line) => line.startsWith("dreaming"))).toEqual([
      expect.stringMatching(
        /^dreaming: The memory was consolidated: 2 changed\. Revert it with: strata memory revert \d+$/,
      ),
    ])
    const dreamLines = [...agent.conversation.ledger().lines.values()].filter(({ purpose }) => purpose === "dream")
    expect(dreamLines.length).toBe(1)
    expect(dreamRequests.join()).not.toContain("Hello") // it does not start from this conversation's request
    const asked = dreamRequests.length
    await say(agent, "Once more")
    expect(dreamRequests.length).toBe(asked) // the last dream was just now
    await agent.close()
    await sim.close()
  })

  test("L6-1 it does not dream with too few conversations, switched off, or with a memory that is only read", async () => {
    const few = await stage({ conversations: ["a", "b"] })
    const agent = await few.open()
    await say(agent, "Hello")
    expect(few.dreamRequests).toEqual([])
    await agent.close()
    const off = await stage()
    const silent = await off.open({ dreaming: false })
    await say(silent, "Hello")
    expect(off.dreamRequests).toEqual([])
    await silent.close()
    const reading = await agentFor(off.sim, off.where, { settings: { memory: "read-only" } })
    expect(reading.dreaming).toBeUndefined()
    await reading.close()
    await Promise.all([few.sim.close(), off.sim.close()])
  })

  test.runIf(isWhole)(
    "L5-9 L6-1 a dream waits while the provider's quota is short, and the status says so",
    async () => {
      const { sim, open, dreamRequests } = await stage()
      const agent = await open()
      const overview = () => agent.dreaming!.overview({ figures: FIGURES })
      sim.faults.set([{ fault: { kind: "rate-limit" }, nth: 1 }])
      await say(agent, "Hello")
      expect(dreamRequests).toEqual([])
      expect((await overview()).skipped).toMatchObject({
        gate: "quota",
        message: "It waits because the provider's rate limit was reached less than a minute ago.",
      })
      sim.clock.advance(11 * 60_000)
      await say(agent, "Once more")
      expect(dreamRequests.length).toBeGreaterThan(0)
      const { skipped, today } = await overview()
      expect(skipped).toBeUndefined()
      expect(today!.spent).toBeGreaterThan(0)
      await agent.close()
      await sim.close()
    },
  )

  test("L5-9 L6-1 a dream waits while less than a tenth of the provider's limit is left, before anything is refused", async () => {
    const { sim, open, dreamRequests } = await stage({ rateLimits: { requests: 1 } })
    const agent = await open()
    await say(agent, "Hello")
    expect(dreamRequests).toEqual([])
    expect((await agent.dreaming!.overview({ figures: FIGURES })).skipped).toMatchObject({
      gate: "quota",
      message: "It waits because less than a tenth of the requests that the provider allows is left.",
    })
    await agent.close()
    await sim.close()
  })

  test("L5-9 a first dream waits until the conversations of the memory have paid for it, and has then cost nothing", async () => {
    const { sim, open, dreamRequests, memory } = await stage()
    const agent = await open({}, { "background-share": 5 })
    await say(agent, "Hello")
    expect(dreamRequests).toEqual([])
    const { skipped, today } = await agent.dreaming!.overview({ figures: FIGURES })
    expect(skipped).toMatchObject({ gate: "share", message: expect.stringMatching(/had taken 0% .* the limit is 5%/) })
    expect(today!.spent).toBe(0)
    expect(JSON.parse(readFileSync(join(memory, ".waiting.json"), "utf8"))).toMatchObject({ underWay: [] })
    await agent.close()
    await sim.close()
  })

  test.runIf(isWhole)(
    "L5-9 a dream waits while background work has taken its share of the conversation's cost",
    async () => {
      const { sim, open, dreamRequests, memory } = await stage()
      const agent = await open({}, { "background-share": 0 })
      await agent.dream() // its cost is counted
      writeFileSync(join(memory, "late.md"), memoryText("Late", "The port is open."))
      const asked = dreamRequests.length
      sim.clock.advance(25 * 3_600_000)
      await say(agent, "Hello")
      expect(dreamRequests.length).toBe(asked)
      const { skipped } = await agent.dreaming!.overview({ figures: FIGURES })
      expect(skipped).toMatchObject({ gate: "share", message: expect.stringMatching(/\d+% .* the limit is 0%/) })
      await agent.close()
      await sim.close()
    },
  )

  test("L5-9 TEL-2 a dream that a user starts is in the ledger, in the day's sum and on a span with its outcome", async () => {
    const exporter = new InMemorySpanExporter()
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
    onTestFinished(() => trace.disable())
    const { sim, open, memory } = await stage({ conversations: [] })
    const agent = await open()
    expect(await agent.dream()).toMatchObject({ state: "installed" })
    expect([...agent.conversation.ledger().lines.values()].map(({ purpose }) => purpose)).toEqual(["dream"])
    const { dollars } = agent.dreaming!.state!
    expect(dollars).toBeGreaterThan(0)
    expect(JSON.parse(readFileSync(join(memory, ".spent.json"), "utf8")).dollars).toBe(dollars)
    await agent.dream()
    const spans = exporter.getFinishedSpans().filter(({ name }) => name === "strata.layer dreaming")
    const counted = spans.flatMap((span) => span.events.map(({ name, attributes }) => [name, attributes?.count]))
    expect(counted).toEqual([
      ["strata.dreams.installed", 1],
      ["strata.dreams.nothing", 1],
    ])
    expect(JSON.stringify(spans.map((span) => [span.attributes, span.events]))).not.toContain("port")
    await agent.close()
    await sim.close()
  })

  test.runIf(isWhole)(
    "TEL-2 dreams that start by themselves are counted by outcome: refused, failed and killed too",
    async () => {
      const exporter = new InMemorySpanExporter()
      trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
      onTestFinished(() => trace.disable())
      const { sim, open } = await stage()
      const agent = await open()
      sim.faults.set([{ fault: { kind: "invalid-request", message: "no" }, nth: 2 }])
      await say(agent, "Hello")
      sim.clock.advance(11 * 60_000)
      const unwatch = agent.dreaming!.on(() => agent.dreaming!.kill())
      await say(agent, "Again")
      unwatch()
      sim.clock.advance(11 * 60_000)
      await say(agent, "Once more")
      const spans = exporter.getFinishedSpans().filter(({ name }) => name === "strata.layer dreaming")
      expect(spans.flatMap((span) => span.events.map(({ name }) => name))).toEqual([
        "strata.dreams.failed",
        "strata.dreams.killed",
        "strata.dreams.installed",
      ])
      await agent.close()
      await sim.close()
    },
  )

  test("L6-5 closing the agent ends the dream, and nothing half-written stays", async () => {
    const { sim, open, memory, isSuperseded } = await stage()
    const agent = await open()
    const started = new Promise<void>((resolve) => agent.dreaming!.on(() => resolve()))
    for await (const _ of agent.query("Hello"));
    await started
    await agent.close()
    const { status } = agent.dreaming!.state!
    expect(["killed", "completed"]).toContain(status)
    expect(isSuperseded()).toBe(status === "completed")
    const copies = join(dirname(memory), "dreams", "copies")
    expect(existsSync(copies) ? readdirSync(copies) : []).toEqual([])
    await sim.close()
  })
})
