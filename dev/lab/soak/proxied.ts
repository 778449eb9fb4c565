/**
 * Runs twenty clients at once through one proxy against the simulator, for an hour of simulated time. Each resends its full message list
 * every half minute and starts a new conversation after a few requests. There are more conversations than stay open, and the process's
 * memory must not grow.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import Anthropic from "@anthropic-ai/sdk"
import { Conversations, newSecret, startProxy } from "@strata/adapters/proxy"
import { frozenClock, type Responder, startSimulator } from "@strata/sim"

const MODEL = "claude-opus-5-5"
const STEP_MS = 30_000
const ROUNDS = 8 // number of requests of a conversation
const RESULT = 6_000 // characters
const SAMPLES = 6
const MAX_GROWTH = 1.15 // factor of the heap from the middle to the end
const TOOLS = [{ name: "Bash", input_schema: { type: "object" as const } }]

export interface ProxiedSoakOptions {
  readonly clients: number
  readonly minutes: number
}

export interface ProxiedSoakReport extends ProxiedSoakOptions {
  readonly requests: number
  readonly conversations: number
  /** Heap sizes at equal intervals, after garbage collection. */
  readonly heapMegabytes: readonly number[]
  readonly errors: Readonly<Record<string, number>>
  readonly problems: readonly string[]
}

export async function proxiedSoak({ clients, minutes }: ProxiedSoakOptions): Promise<ProxiedSoakReport> {
  const collectGarbage = exposedCollector()
  const clock = frozenClock()
  const sim = await startSimulator({ responder: caller(), clock })
  const dir = mkdtempSync(join(tmpdir(), "strata-proxied-soak-"))
  const now = { now: () => new Date(clock.now()) } as never
  const plans = new Conversations({ upstream: sim.url, cwd: dir, env: {}, dir, clock: now })
  const proxy = await startProxy({ upstream: sim.url, plans, secret: newSecret() })
  const steps = Math.round((minutes * 60_000) / STEP_MS)
  const heapMegabytes: number[] = []
  try {
    const all = Array.from({ length: clients }, (_, at) => new Client(proxy.url, at))
    for (let step = 1; step <= steps; step++) {
      await Promise.all(all.map((client) => client.round()))
      clock.advance(STEP_MS)
      if (step % Math.max(1, Math.floor(steps / SAMPLES)) !== 0) continue
      collectGarbage()
      heapMegabytes.push(process.memoryUsage().heapUsed / 1024 / 1024)
    }
    const rows = await plans.status()
    const { errors } = sim.stats()
    const sums = { requests: rows.reduce((sum, { requests }) => sum + requests, 0), conversations: rows.length }
    const problems = problemsIn({ heapMegabytes, errors, ...sums }, { clients, steps })
    return { clients, minutes, ...sums, heapMegabytes, errors, problems }
  } finally {
    await proxy.close()
    await plans.close()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

function problemsIn(
  { heapMegabytes, errors, requests }: Pick<ProxiedSoakReport, "heapMegabytes" | "errors" | "requests">,
  { clients, steps }: { readonly clients: number; readonly steps: number },
): readonly string[] {
  const middle = heapMegabytes[Math.floor(heapMegabytes.length / 2)] ?? Number.NaN
  const end = heapMegabytes.at(-1) ?? Number.NaN
  return [
    ...Object.entries(errors).map(([kind, count]) => `${count} requests were refused: ${kind}`),
    ...(requests === clients * steps ? [] : [`${requests} requests were followed, not ${clients * steps}`]),
    ...(end <= middle * MAX_GROWTH ? [] : [`the heap grew from ${middle.toFixed(0)} to ${end.toFixed(0)} MB`]),
  ]
}

/** A responder that calls a tool in each answer. */
function caller(): Responder {
  let calls = 0
  return {
    name: "caller",
    answer: () => ({
      content: [
        { type: "text", text: "I look at the next file." },
        { type: "tool_use", id: `toolu_${++calls}`, name: "Bash", input: { command: `cat file-${calls}` } },
      ],
    }),
  }
}

class Client {
  readonly #client: Anthropic
  readonly #number: number
  #conversations = 0
  #messages: Anthropic.MessageParam[] = []

  constructor(baseURL: string, number: number) {
    this.#client = new Anthropic({ baseURL, apiKey: "none", maxRetries: 0, openTelemetry: false })
    this.#number = number
  }

  async round(): Promise<void> {
    if (this.#messages.length >= ROUNDS * 2 || this.#conversations === 0) {
      this.#conversations++
      this.#messages = [{ role: "user", content: `Look at folder ${this.#number} of task ${this.#conversations}.` }]
    }
    const { content } = await this.#client.messages.create(
      { model: MODEL, max_tokens: 1_000, tools: TOOLS, messages: this.#messages },
      { headers: { "x-session-id": `${this.#number}-${this.#conversations}` } },
    )
    const results = content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: LINES }] : [],
    )
    this.#messages.push({ role: "assistant", content }, { role: "user", content: results })
  }
}

/** Always the same text, because the simulator stores each new text, and only the proxy's memory is measured. */
const LINES = 'export const words = "of a file" // and more words\n'.repeat(RESULT / 50)

function exposedCollector(): () => void {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
}

export const proxiedReport = (report: ProxiedSoakReport): string =>
  [
    `${report.clients} clients through one proxy, ${report.minutes} simulated minutes: ${report.requests} requests of ${report.conversations} conversations`,
    `heap, MB: ${report.heapMegabytes.map((heap) => heap.toFixed(0)).join(" ")}`,
    ...(report.problems.length === 0 ? ["nothing went wrong"] : report.problems),
  ].join("\n")
