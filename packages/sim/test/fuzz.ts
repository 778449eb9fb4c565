/**
 * Sends random bodies to a simulator over HTTP: damaged valid ones, and junk. None may crash it or get a 500.
 * `npm run sim-fuzz -- 100000` runs it from the command line.
 */
import { pathToFileURL } from "node:url"
import fc from "fast-check"
import { API_VERSIONS, BETA } from "../src/api-dialect.ts"
import { frozenClock } from "../src/clock.ts"
import type { Responder } from "../src/responder.ts"
import { type Simulator, startSimulator } from "../src/start.ts"
import { VALID_BODIES } from "./fuzz-bodies.ts"

const CONCURRENCY = 8 // requests at a time
const BATCH = 1000 // bodies generated at a time
const MAX_DAMAGES = 4

export interface FuzzOptions {
  readonly count: number
  readonly seed: number
  readonly onProgress?: (sent: number) => void
}

export interface FuzzReport {
  readonly sent: number
  /** Number of answers by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** Requests with a wrong answer, each with that answer. */
  readonly broken: readonly { readonly request: FuzzRequest; readonly answer: string }[]
}

export interface FuzzRequest {
  readonly path: string
  readonly version: string
  readonly betas: readonly string[]
  readonly body: string
}

/** Junk values of every kind, and words the API knows in the wrong place. */
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(fc.nat(0xffff), { maxLength: 30 }).map((codes) => String.fromCharCode(...codes)), // half pairs included
  fc.constantFrom(null, true, 0, -1, 1e308, "", " ", [], {}, [[]], "__proto__", "constructor", "text", "user"),
  fc.constantFrom("tool_use", "tool_result", "thinking", "compaction", "ephemeral", "toolu_1", "claude-opus-5-5"),
  fc.constantFrom("\ud800", "<|endoftext|>", "x".repeat(3000), "字".repeat(500)),
)

const BETA_SETS: readonly (readonly string[])[] = [
  Object.values(BETA),
  Object.values(BETA).filter((beta) => beta !== BETA.threads),
  [BETA.contextManagement, BETA.compactAtThreshold],
  [BETA.compactOnDemand, BETA.thinkingBinding],
  [],
]

interface Damage {
  readonly place: number
  readonly kind: "replace" | "remove" | "add" | "repeat" | "swap"
  readonly value: unknown
  readonly key: string
}

const damage: fc.Arbitrary<Damage> = fc.record({
  place: fc.nat(),
  kind: fc.constantFrom("replace", "remove", "add", "repeat", "swap"),
  value: junk,
  key: fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("type", "cache_control", "content", "id", "__proto__")),
})

const damagedBody = fc
  .tuple(fc.constantFrom(...VALID_BODIES), fc.array(damage, { maxLength: MAX_DAMAGES }))
  .map(([body, damages]) => JSON.stringify(damages.reduce(applyDamage, structuredClone(body) as unknown)))

const fuzzRequest: fc.Arbitrary<FuzzRequest> = fc.record({
  path: fc.constantFrom("/v1/messages", "/v1/messages", "/v1/messages", "/v1/messages/count_tokens"),
  version: fc.constantFrom(...API_VERSIONS),
  betas: fc.constantFrom(...BETA_SETS),
  body: fc.oneof({ weight: 9, arbitrary: damagedBody }, { weight: 1, arbitrary: fc.oneof(fc.json(), fc.string()) }),
})

/** Every object and list inside a value, including the value itself. */
function containers(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return []
  return [value, ...Object.values(value).flatMap(containers)]
}

function applyDamage(body: unknown, { place, kind, value: junk, key }: Damage): unknown {
  const value = structuredClone(junk) // fast-check may use a value twice, and a body must not contain itself
  const all = containers(body)
  const target = all[place % all.length] as Record<string, unknown> | undefined
  if (!target) return value
  const keys = Object.keys(target)
  const chosen = keys[place % keys.length]
  if (kind === "add" || chosen === undefined) {
    if (Array.isArray(target)) target.push(value)
    else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else if (kind === "replace") {
    target[chosen] = value
  } else if (kind === "remove") {
    if (Array.isArray(target)) target.splice(Number(chosen), 1)
    else delete target[chosen]
  } else if (kind === "repeat" && Array.isArray(target)) {
    target.push(structuredClone(target[Number(chosen)]))
  } else if (kind === "swap" && Array.isArray(target)) {
    target.reverse()
  }
  return body
}

/** A responder that uses every kind of answer. */
const fuzzResponder: Responder = {
  name: "fuzz",
  answer: ({ random, nextToolUseId }) => ({
    content: [
      ...(random() < 0.5 ? [{ type: "thinking" as const, thinking: "Let me see." }] : []),
      { type: "text" as const, text: random() < 0.1 ? "word ".repeat(300) : "Here you are." },
      ...(random() < 0.3 ? [{ type: "tool_use" as const, id: nextToolUseId(), name: "look", input: { at: 1 } }] : []),
      ...(random() < 0.1 ? [{ type: "tool_use" as const, id: nextToolUseId(), name: "look", inputText: '{"a' }] : []),
    ],
  }),
}

export async function fuzz({ count, seed, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const start = (cacheEdits: boolean) =>
    startSimulator({ responder: fuzzResponder, clock: frozenClock(), seed, cacheEdits })
  const simulators = await Promise.all([start(false), start(true)])
  const statuses: Record<number, number> = {}
  const broken: { request: FuzzRequest; answer: string }[] = []
  let sent = 0

  const send = async (request: FuzzRequest) => {
    const { status, answer, sound } = await sendTo(simulators[sent++ % 2] as Simulator, request)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (!sound) broken.push({ request, answer })
  }
  for (let batch = 0; batch * BATCH < count; batch++) {
    const requests = fc.sample(fuzzRequest, { numRuns: Math.min(BATCH, count - batch * BATCH), seed: seed + batch })
    const queue = requests.values()
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (const request of queue) await send(request)
      }),
    )
    onProgress?.(sent)
  }
  await Promise.all(simulators.map((simulator) => simulator.close()))
  return { sent, statuses, broken }
}

async function sendTo({ url }: Simulator, { path, version, betas, body }: FuzzRequest) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "x-api-key": "fuzz", "anthropic-version": version, "anthropic-beta": betas.join(",") },
    body,
  })
  const answer = await response.text()
  return { status: response.status, answer, sound: isSound(response, answer) }
}

/** Whether the response is a message, a count, a complete stream, or a client error. */
function isSound({ status, headers }: Response, answer: string): boolean {
  if (headers.get("content-type")?.startsWith("text/event-stream")) return answer.includes("event: message_stop")
  const body = JSON.parse(answer) as { type?: string; input_tokens?: number; error?: { message?: string } }
  if (status === 200) return body.type === "message" || typeof body.input_tokens === "number"
  return status >= 400 && status < 500 && body.type === "error" && Boolean(body.error?.message)
}

async function main() {
  const [count = 100_000, seed = 1] = process.argv.slice(2).map(Number)
  const start = performance.now()
  const report = await fuzz({ count, seed, onProgress: (sent) => process.stderr.write(`\r${sent} of ${count}`) })
  const seconds = (performance.now() - start) / 1000
  process.stderr.write("\n")
  console.log(`${report.sent} bodies in ${seconds.toFixed(1)} s:`, report.statuses)
  for (const { request, answer } of report.broken.slice(0, 5)) console.log(JSON.stringify(request), "\n→", answer)
  console.log(report.broken.length === 0 ? "Nothing broke." : `${report.broken.length} broke it.`)
  process.exitCode = report.broken.length === 0 ? 0 : 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main()
