/**
 * Measures the time to load the library: `import "@strata/core"` in a new process, compared with an empty one. With TypeScript sources,
 * most of it is stripping types, which Node's compile cache saves from the second time on.
 *
 *     npm run bench -- import
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { inTemporaryDirectory, milliseconds, quantile } from "../measure.ts"

const RUNS = 15
const core = new URL("../../../packages/core/src/index.ts", import.meta.url).href
const script = (body: string) => `const t = performance.now(); ${body}; console.log(performance.now() - t)`

function measure(body: string, env: Record<string, string> = {}): number {
  const samples = Array.from({ length: RUNS }, () =>
    Number(
      execFileSync(process.execPath, ["--input-type=module", "-e", script(body)], {
        encoding: "utf8",
        env: { ...process.env, ...env },
      }),
    ),
  )
  return quantile(samples, 0.5)
}

await inTemporaryDirectory(async (directory) => {
  const cache = { NODE_COMPILE_CACHE: join(directory, "cache") }
  const load = `await import(${JSON.stringify(core)})`
  measure(load, cache)
  console.log(`import of the library, median of ${RUNS} processes`)
  console.log(`  from TypeScript sources       ${milliseconds(measure(load))}`)
  console.log(`  with Node's compile cache     ${milliseconds(measure(load, cache))}`)
})
