/**
 * Tests the invariants on more random conversations than `npm test`, with a new seed, and the simulator on random bodies.
 *
 *     npm run fuzz -- 20000          that many conversations for each invariant
 *     npm run fuzz -- 20000 42       with the seed 42, to reproduce a failure
 *     npm run fuzz -- 25000 12 no-byte-of-memory layers/dreaming consolidate-lock       only test files with such a path
 */
import { spawnSync } from "node:child_process"

const runs = Number(process.argv[2] ?? 10_000)
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isInteger(runs) || runs < 1 || !Number.isInteger(seed)) {
  console.error("usage: npm run fuzz -- [number of conversations] [seed]")
  process.exit(2)
}
console.log(`${runs} conversations for each invariant, seed ${seed}`)
const env = { ...process.env, TEST_SIZE: "whole", FUZZ_RUNS: String(runs), FUZZ_SEED: String(seed) }
const TESTS = [
  "packages/core/test/invariants",
  "packages/core/test/integration/core-requests.test.ts",
  "packages/core/test/integration/validator-agrees.test.ts",
  "packages/core/test/integration/malformed-decisions.test.ts",
  "packages/core/test/integration/agent/malformed.test.ts",
  "packages/core/test/integration/compaction/properties",
  "packages/core/test/integration/layers/dreaming.test.ts",
  "packages/core/test/integration/layers/microcompact.test.ts",
  "packages/core/test/integration/recall/handles-resolve.test.ts",
  "packages/core/src/journal/file/consolidate-lock.test.ts",
  "packages/core/src/layers/2-microcompact/",
  "packages/core/src/layers/layers.test.ts",
  "packages/core/src/model/ai-sdk/from-prompt.test.ts",
  "packages/adapters/test/ai-sdk/recall-streams.test.ts",
  "packages/adapters/test/ai-sdk/what-is-sent.test.ts",
  "packages/core/src/memory/plain-frontmatter.test.ts",
  "packages/core/src/recall/incremental-index.test.ts",
  "packages/core/src/memory/install-turmoil.test.ts",
  "packages/core/src/journal/file/mailbox-directory.test.ts",
  "packages/transcripts/src/replay/clearing-pays.test.ts",
  "packages/core/src/agent/tools/shell/command/git-settings.property.test.ts",
  "packages/core/src/agent/tools/shell/command/small-language.test.ts",
  "packages/sim/src/word-tokens.property.test.ts",
  "packages/adapters/test/proxy/event-reader.test.ts",
  "packages/adapters/src/clients/http/parsed-bodies.test.ts",
  "packages/adapters/test/langchain-",
  "packages/adapters/test/random-programs.whole.test.ts",
  "packages/adapters/test/recall-streams.test.ts",
]
const only = process.argv.slice(4)
const tests = only.length === 0 ? TESTS : only
const { status } = spawnSync("npx", ["vitest", "run", "--testTimeout", "86400000", ...tests], {
  env,
  stdio: "inherit",
})
process.exit(status ?? 1)
