/** How many random conversations an invariant is tried on: `npm run fuzz -- 20000` sets more, with a seed of its own. */
import type { Parameters } from "fast-check"

export const RUNS = Number(process.env.FUZZ_RUNS ?? 1_000)
const SEED = process.env.FUZZ_SEED

/** The same conversations in every `npm test`; others in every fuzz. */
export const fuzz: Parameters<unknown> = { numRuns: RUNS, seed: SEED === undefined ? 1 : Number(SEED) }
