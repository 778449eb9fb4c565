/**
 * Measures the speed of the estimator compared with the real tokenizer, on the same texts in the same run.
 *
 *     node dev/bench/core/estimator.ts
 */

import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { CONTENT_CLASSES } from "../../../packages/core/src/tokens/content-class.ts"
import { createEstimator, measureText } from "../../../packages/core/src/tokens/estimate.ts"
import { SAMPLE_TEXTS } from "../../../packages/core/test/sample-texts.ts"

const MIX_BYTES = 1_000_000
const SECONDS = 1
const TOKENIZER_SLICE = 2_048 // the tokenizer is quadratic on long runs
const SPACES = 200_000

const estimator = createEstimator("claude-5")
const mix = repeatTo(CONTENT_CLASSES.map((name) => SAMPLE_TEXTS[name]).join("\n"))
const texts = { mix, ...Object.fromEntries(CONTENT_CLASSES.map((name) => [name, repeatTo(SAMPLE_TEXTS[name])])) }

console.table(
  Object.entries(texts).map(([text, content]) => {
    const estimated = megabytesPerSecond(content, () => estimator.tokens(measureText(content)))
    const tokenized = megabytesPerSecond(content, () => countTokens(content))
    return {
      text,
      "estimator MB/s": round(estimated),
      "tokenizer MB/s": round(tokenized),
      "times as fast": round(estimated / tokenized),
    }
  }),
)
const spaces = " ".repeat(SPACES)
console.log(`${SPACES.toLocaleString("en-US")} spaces: ${round(1_000 * secondsFor(() => estimator.text(spaces)))} ms`)

function repeatTo(text: string): string {
  return text.repeat(Math.ceil(MIX_BYTES / Buffer.byteLength(text)))
}

function countTokens(text: string): number {
  let tokens = 0
  for (let at = 0; at < text.length; at += TOKENIZER_SLICE)
    tokens += encode(text.slice(at, at + TOKENIZER_SLICE)).length
  return tokens
}

function megabytesPerSecond(text: string, run: () => void): number {
  return Buffer.byteLength(text) / 1e6 / secondsFor(run)
}

/** Returns the fastest of all runs that fit into the time, because other work on the machine can only slow a run down. */
function secondsFor(run: () => void): number {
  const start = performance.now()
  let fastest = Number.POSITIVE_INFINITY
  while (performance.now() - start < SECONDS * 1_000 || fastest === Number.POSITIVE_INFINITY) {
    const began = performance.now()
    run()
    fastest = Math.min(fastest, performance.now() - began)
  }
  return fastest / 1_000
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
