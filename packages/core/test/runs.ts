/**
 * How many random conversations test an invariant. Few, because `npm test` must stay fast: `npm run fuzz -- 20000` sets more, with a new
 * seed.
 */
import type { Parameters } from "fast-check"
import { size } from "./size.ts"

export const RUNS = Number(process.env.FUZZ_RUNS ?? size(5, 50))
export const isFuzzing = process.env.FUZZ_RUNS !== undefined
const SEED = process.env.FUZZ_SEED

/** The same conversations in every `npm test`, and different ones in every fuzz run. */
export const fuzz: Parameters<unknown> = { numRuns: RUNS, seed: SEED === undefined ? 1 : Number(SEED) }
