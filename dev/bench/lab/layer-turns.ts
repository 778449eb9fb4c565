/**
 * Measures the time that offloading and clearing take. Turns with and without them alternate, so that both see the same load on the
 * machine.
 */

import type { Conversation } from "@strata/core"
import { toolResultStorage } from "../../../packages/core/src/layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../../../packages/core/src/layers/2-microcompact/microcompaction.ts"
import { openConversation } from "../../../packages/core/src/public-functions.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "../measure.ts"

const MODEL = "claude-opus-4-6"
const SIZES = isShort ? [100_000, 300_000] : [100_000, 1_000_000]
const TURNS = isShort ? 40 : 200
const LINE = "export const answer = (question: string): number => question.length * 42\n" // about 20 tokens
const LARGE = { lines: 100, tokens: 2_000 } // the results that fill the context
const SMALL_LINES = 4 // lines of each measured result

async function open(directory: string, id: string, withLayers: boolean): Promise<Conversation> {
  return openConversation({
    dir: directory,
    cwd: directory,
    id,
    model: MODEL,
    tools: [{ name: "Read", input_schema: { type: "object" } }],
    layers: withLayers ? [toolResultStorage(), microcompaction()] : [],
    // so large that the measurement does not include a full context
    settings: { flush: "never", models: { [MODEL]: { window: 4_000_000 } } },
    env: {},
  })
}

async function turn(chat: Conversation, number: number, lines: number): Promise<void> {
  const id = `toolu_${number}`
  const content = [{ type: "tool_use", id, name: "Read", input: { file_path: `/src/file-${number}.ts` } }]
  const usage = { input_tokens: 10, output_tokens: 50, cache_read_input_tokens: number * LARGE.tokens }
  await chat.record({ id: `msg_${number}`, model: MODEL, content, stop_reason: "tool_use", usage })
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: LINE.repeat(lines) }] })
}

async function measure(directory: string, tokens: number) {
  const bare = await open(directory, `bare-${tokens}`, false)
  const layered = await open(directory, `layered-${tokens}`, true)
  const filled = Math.ceil(tokens / LARGE.tokens)
  for (const chat of [bare, layered]) {
    await chat.add({ role: "user", content: "Read all files." })
    for (let number = 0; number < filled; number++) await turn(chat, number, LARGE.lines)
    await chat.prepare()
  }
  const times = { bare: [] as number[], layered: [] as number[] }
  for (let number = filled; number < filled + TURNS; number++) {
    for (const [chat, into] of [[bare, times.bare] as const, [layered, times.layered] as const]) {
      const start = performance.now()
      await turn(chat, number, SMALL_LINES)
      await chat.prepare()
      into.push(performance.now() - start)
    }
  }
  await bare.close()
  await layered.close()
  return times
}

export async function printLayerTurns(): Promise<void> {
  await inTemporaryDirectory(async (directory) => {
    console.log(`\nOne more turn, ${TURNS} times, alternating: median / p99`)
    for (const tokens of SIZES) {
      const { bare, layered } = await measure(directory, tokens)
      const both = [bare, layered].map(
        (samples) => `${milliseconds(quantile(samples, 0.5))} / ${milliseconds(quantile(samples, 0.99))}`,
      )
      const ratio = quantile(layered, 0.5) / quantile(bare, 0.5)
      console.log(
        `  at ${tokens / 1_000}K tokens: without layers ${both[0]}, with layers 1 and 2 ${both[1]}, ratio ${ratio.toFixed(2)}`,
      )
    }
  })
}
