/**
 * Measures how many requests a simulator answers per second, of 10,000 and of 200,000 tokens: with 90% of each a known
 * prefix, and with everything new. A bare server that reads the same bodies and echoes their length runs beside it, so the
 * share of HTTP and of this machine is known. Then it watches the memory over many requests.
 *
 *     node packages/sim/bench/requests.ts [--short]
 *
 * It takes about two minutes. `--short` takes 20 seconds and is enough to notice a slowdown.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { parseArgs } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { countText, startSimulator } from "../src/index.ts"

const SIZES = [10_000, 200_000] // tokens
const SHARED = 0.9
const TOKENS_PER_BLOCK = 1000 // as in a long conversation
const { values: options } = parseArgs({ options: { short: { type: "boolean", default: false } } })
const SECONDS = options.short ? 1 : 5 // per measurement
const MEMORY_REQUESTS = options.short ? 2000 : 10_000
const MEMORY_SAMPLES = 10

const SYLLABLES = ["ka", "ro", "stone", "ing", "par", "tion", "get", "Id", "un", "der", "_", "able", "x2", "mo", "re"]
let state = 1
const chance = (limit: number) => {
  state = (state * 48_271) % 2_147_483_647
  return state % limit
}
/** Words that seldom repeat, so a tokenizer that caches words has no advantage over real text. */
const nextWord = () => Array.from({ length: 1 + chance(4) }, () => SYLLABLES[chance(SYLLABLES.length)]).join("")
const sample = Array.from({ length: 1000 }, nextWord).join(" ")
const wordsPerBlock = Math.round((TOKENS_PER_BLOCK * 1000) / countText(sample))
const newBlock = () => ({ type: "text", text: Array.from({ length: wordsPerBlock }, nextWord).join(" ") })
const newBlocks = (count: number) => Array.from({ length: count }, newBlock)

const simulator = await startSimulator({
  brain: { name: "short", answer: () => ({ content: [{ type: "text", text: "Yes." }] }) },
})
const echo = createServer((request, response) => {
  let bytes = 0
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength
  })
  request.on("end", () => response.end(JSON.stringify({ usage: { input_tokens: bytes } })))
})
await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve))
const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`

/** A body whose first nine tenths are marked. */
function bodyOf(blocks: readonly object[]): string {
  const last = Math.floor(blocks.length * SHARED) - 1
  const content = blocks.map((block, index) =>
    index === last ? { ...block, cache_control: { type: "ephemeral" } } : block,
  )
  return JSON.stringify({ model: "claude-opus-5", max_tokens: 10, messages: [{ role: "user", content }] })
}

async function send(url: string, body: string) {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "bench", "anthropic-version": "2026-10-21", "content-type": "application/json" },
    body,
  })
  const { usage } = (await response.json()) as { usage: Record<string, number> }
  return usage.cache_read_input_tokens ?? 0
}

/** Requests per second, without the time to build the bodies. */
async function measure(url: string, makeBlocks: () => readonly object[]) {
  let busy = 0
  let requests = 0
  while (busy < SECONDS * 1000) {
    const body = bodyOf(makeBlocks())
    const start = performance.now()
    await send(url, body)
    busy += performance.now() - start
    requests++
  }
  return (requests * 1000) / busy
}

const column = (value: number) => value.toFixed(1).padStart(10)
console.log("requests a second        known prefix   all new   bare echo")
for (const tokens of SIZES) {
  const count = tokens / TOKENS_PER_BLOCK
  const prefix = newBlocks(Math.floor(count * SHARED))
  const sharing = () => [...prefix, ...newBlocks(count - prefix.length)]
  await send(simulator.url, bodyOf(sharing())) // the simulator sees the prefix for the first time
  const warm = await measure(simulator.url, sharing)
  const cold = await measure(simulator.url, () => newBlocks(count))
  const bare = await measure(echoUrl, sharing)
  console.log(`${`${tokens}`.padStart(7)} tokens          ${column(warm)}${column(cold)}  ${column(bare)}`)
}

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

/** Many requests that are all different, as of many conversations. */
const heaps: number[] = []
const memoryBlocks = newBlocks(9)
for (let index = 0; index < MEMORY_REQUESTS; index++) {
  await send(simulator.url, bodyOf([...memoryBlocks, { type: "text", text: `question ${index}` }]))
  if ((index + 1) % (MEMORY_REQUESTS / MEMORY_SAMPLES) === 0) {
    collectGarbage()
    heaps.push(process.memoryUsage().heapUsed / 1024 / 1024)
  }
}
console.log(`heap over ${MEMORY_REQUESTS} requests, MB: ${heaps.map((heap) => heap.toFixed(0)).join(" ")}`)
await simulator.close()
echo.close()
