/** Runs before every test file, so that properties try the same cases in every `npm test`, and others in every fuzz run (`FUZZ_SEED`). */
import fc from "fast-check"

fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 1) })
