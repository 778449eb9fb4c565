/**
 * Measures what offloading and clearing add to one more turn of a long conversation above the warning threshold. Before every request,
 * clearing by size checks the results and finds that clearing does not pay. The time must depend on new content only: at 900K tokens about
 * the same as at 90K.
 *
 *     npm run bench -- survey
 */
import type { Layer } from "@strata/core"
import { toolResultStorage } from "../../../packages/core/src/layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../../../packages/core/src/layers/2-microcompact/microcompaction.ts"
import { openConversation } from "../../../packages/core/src/public-functions.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "../measure.ts"

const TURNS = isShort ? 60 : 200
const WARM_UP = 20
const RESULT = "export const answer = (question: string): number => question.length * 42\n".repeat(4) // about 90 tokens
const TOKENS_PER_TURN = 200

interface Size {
  readonly name: string
  readonly turns: number
  readonly window: number
}

const SIZES: readonly Size[] = [
  { name: "90K tokens", turns: 450, window: 180_000 },
  { name: "900K tokens", turns: 4_500, window: 1_000_000 },
]

/** The time of `prepare()` in each turn, in milliseconds. */
async function prepareTimes(directory: string, { turns, window }: Size, layers: readonly Layer[]): Promise<number[]> {
  const model = "claude-opus-4-6"
  const chat = await openConversation({
    dir: directory,
    cwd: directory,
    model,
    layers,
    settings: {
      flush: "never",
      models: { [model]: { window, autoCompactTokens: turns * TOKENS_PER_TURN + 15_000 } },
      switches: { "clear-by-api": false },
      figures: { "expected-turns": 0 }, // clearing never pays, so nothing is cleared
    },
    env: {},
  })
  const times: number[] = []
  await chat.add({ role: "user", content: "Read all files." })
  for (let number = 0; number < turns + WARM_UP + TURNS; number++) {
    const id = `toolu_${number}`
    const content = [{ type: "tool_use", id, name: "Read", input: { file_path: `/src/file-${number}.ts` } }]
    const usage = {
      input_tokens: 10,
      output_tokens: 50,
      cache_read_input_tokens: Math.min(number, turns) * TOKENS_PER_TURN,
    }
    await chat.record({ id: `msg_${number}`, model, content, stop_reason: "tool_use", usage })
    await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: RESULT }] })
    if (number < turns) continue
    if (chat.windowUsage().state === "fine") throw new Error("the context is too small for clearing by size")
    const start = performance.now()
    await chat.prepare()
    if (number >= turns + WARM_UP) times.push(performance.now() - start)
  }
  await chat.close()
  return times
}

await inTemporaryDirectory(async (directory) => {
  console.log(`prepare(), ${TURNS} times: median without layers, with offloading and clearing, difference`)
  for (const size of SIZES) {
    const bare = quantile(await prepareTimes(directory, size, []), 0.5)
    const layered = quantile(await prepareTimes(directory, size, [toolResultStorage(), microcompaction()]), 0.5)
    const figures = [bare, layered, layered - bare].map((ms) => milliseconds(ms).padEnd(12))
    console.log(`  ${size.name.padEnd(14)}${figures.join("")}`)
  }
})
