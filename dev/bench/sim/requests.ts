/**
 * Measures what a request costs in the simulator, of 10,000 and of 200,000 tokens: with 90% of it seen before, with all of it seen before,
 * and with everything new. For comparison a bare server in the same process reads the same bodies, parses them and echoes their size.
 * Results are processor time, including the client, and its ratio to the bare server's. Then the memory over many requests is measured.
 *
 *     node dev/bench/sim/requests.ts [--short] [--against CHECKOUT]
 *
 * `--against` measures the simulator of another checkout in the same run. It takes about two minutes. `--short` takes 20 seconds and is
 * enough to notice a slowdown.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { countText, type Responder, type Simulator, startSimulator } from "../../../packages/sim/src/index.ts"

const SIZES = [10_000, 200_000] // tokens
const SHARED = 0.9
const TOKENS_PER_BLOCK = 1000 // as in a long conversation
const { values: options } = parseArgs({
  options: { short: { type: "boolean", default: false }, against: { type: "string" } },
})
const SECONDS = options.short ? 3 : 20 // of processor time for each size
const WARM_UP = 10 // requests of each kind
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

const responder: Responder = { name: "short", answer: () => ({ content: [{ type: "text", text: "Yes." }] }) }
const simulator = await startSimulator({ responder: responder })
const another = options.against === undefined ? undefined : await startAnother(options.against)
async function startAnother(checkout: string): Promise<Simulator> {
  const source = pathToFileURL(resolve(checkout, "packages/sim/src/index.ts")).href
  return ((await import(source)) as { startSimulator: typeof startSimulator }).startSimulator({ responder: responder })
}
const echo = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { messages: { content: unknown[] }[] }
    response.end(JSON.stringify({ usage: { input_tokens: body.messages[0]?.content.length } }))
  })
})
await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve))
const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`

/** A request body with a breakpoint after nine tenths of its blocks. */
function bodyOf(blocks: readonly object[]): string {
  const last = Math.floor(blocks.length * SHARED) - 1
  const content = blocks.map((block, index) =>
    index === last ? { ...block, cache_control: { type: "ephemeral" } } : block,
  )
  return JSON.stringify({ model: "claude-opus-5", max_tokens: 10, messages: [{ role: "user", content }] })
}

const headers = { "x-api-key": "bench", "anthropic-version": "2026-10-21", "content-type": "application/json" }

/** Sends the body as an SDK does and reads the answer. Resolves with the total processor time in milliseconds. */
async function send(url: string, body: string): Promise<number> {
  const start = process.cpuUsage()
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body })
  const answer = (await response.json()) as { error?: { message: string } }
  if (answer.error) throw new Error(answer.error.message)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const column = (text: string): string => text.padStart(22)
console.log(`processor time a request${["bare echo", "seen", "90% seen", "all new"].map(column).join("")}`)
for (const tokens of SIZES) {
  const count = tokens / TOKENS_PER_BLOCK
  const prefix = newBlocks(Math.floor(count * SHARED))
  const sharing = () => bodyOf([...prefix, ...newBlocks(count - prefix.length)])
  const seen = sharing()
  const asked = [() => seen, sharing, () => bodyOf(newBlocks(count))]
  const kinds = [
    { url: echoUrl, body: sharing },
    ...[simulator, ...(another ? [another] : [])].flatMap(({ url }) => asked.map((body) => ({ url, body }))),
  ]
  const times = kinds.map((): number[] => [])
  let spent = 0
  for (let round = 0; spent < SECONDS * 1000; round++) {
    for (const [index, { url, body }] of kinds.entries()) {
      const time = await send(url, body())
      if (round < WARM_UP) continue
      times[index]!.push(time)
      spent += time
    }
  }
  const [bare = 0, ...others] = times.map(median)
  const figures = others.map((ms) => column(`${ms.toFixed(2)} ms (${(ms / bare).toFixed(1)}×)`))
  const size = `${tokens}`.padStart(7)
  console.log(
    `${size} tokens          ${[column(`${bare.toFixed(2)} ms`), ...figures.slice(0, asked.length)].join("")}`,
  )
  if (another) console.log(`        against         ${[column(""), ...figures.slice(asked.length)].join("")}`)
}
await another?.close()

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

/** Heap sizes during many different requests, as from many conversations. */
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
