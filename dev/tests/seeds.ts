/** Run before every test file: properties try the same cases in every `npm test`, and others in every fuzz (`FUZZ_SEED`). */
import fc from "fast-check"

fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 1) })
