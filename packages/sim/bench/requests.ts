/**
 * Measures how many requests of 200,000 tokens a simulator answers per second: with 90% of each a known prefix, and with
 * everything new. Over HTTP, one request after the other.
 *
 *     node packages/sim/bench/requests.ts [--short]
 *
 * It takes about 20 seconds. `--short` takes a quarter of that and is enough to notice a slowdown.
 */
import { parseArgs } from "node:util"
import { countText, startSimulator } from "../src/index.ts"

const TOKENS = 200_000
const SHARED = 0.9
const BLOCKS = 200 // per request, as many as in a long conversation
const { values: options } = parseArgs({ options: { short: { type: "boolean", default: false } } })
const SECONDS = options.short ? 1 : 5 // per measurement

const SYLLABLES = ["ka", "ro", "stone", "ing", "par", "tion", "get", "Id", "un", "der", "_", "able", "x2", "mo", "re"]
let state = 1
const chance = (limit: number) => {
  state = (state * 48_271) % 2_147_483_647
  return state % limit
}
/** Words that seldom repeat, so a tokenizer that caches words has no advantage over real text. */
const nextWord = () => Array.from({ length: 1 + chance(4) }, () => SYLLABLES[chance(SYLLABLES.length)]).join("")
const perBlock = TOKENS / BLOCKS
const sample = Array.from({ length: 1000 }, nextWord).join(" ")
const wordsPerBlock = Math.round((perBlock * 1000) / countText(sample))
const newBlock = () => ({ type: "text", text: Array.from({ length: wordsPerBlock }, nextWord).join(" ") })

const sharedBlocks = Array.from({ length: BLOCKS * SHARED }, newBlock)
const sharing = () => [...sharedBlocks, ...Array.from({ length: BLOCKS * (1 - SHARED) }, newBlock)]
const allNew = () => Array.from({ length: BLOCKS }, newBlock)

const simulator = await startSimulator({
  brain: { name: "short", answer: () => ({ content: [{ type: "text", text: "Yes." }] }) },
})

async function send(blocks: readonly object[]) {
  const marked = blocks.map((block, index) =>
    index === BLOCKS * SHARED - 1 ? { ...block, cache_control: { type: "ephemeral" } } : block,
  )
  const response = await fetch(`${simulator.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "bench", "anthropic-version": "2026-10-21", "content-type": "application/json" },
    body: JSON.stringify({ model: "claude-opus-5", max_tokens: 10, messages: [{ role: "user", content: marked }] }),
  })
  const { usage } = (await response.json()) as { usage: Record<string, number> }
  return {
    read: usage.cache_read_input_tokens ?? 0,
    total: (usage.input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
  }
}

/** Requests per second, without the time to build the bodies. */
async function measure(makeBlocks: () => readonly object[]) {
  let busy = 0
  let requests = 0
  let last = { read: 0, total: 0 }
  while (busy < SECONDS * 1000) {
    const blocks = makeBlocks()
    const start = performance.now()
    last = await send(blocks)
    busy += performance.now() - start
    requests++
  }
  return { perSecond: (requests * 1000) / busy, ...last }
}

await send(sharing()) // the simulator sees the prefix for the first time
const warm = await measure(sharing)
const cold = await measure(allNew)
await simulator.close()

console.log(
  `${warm.total} tokens, ${warm.read} of them read from the cache: ${warm.perSecond.toFixed(1)} requests a second`,
)
console.log(`${cold.total} tokens, all new:                          ${cold.perSecond.toFixed(1)} requests a second`)
console.log(`ratio ${(warm.perSecond / cold.perSecond).toFixed(1)}`)
