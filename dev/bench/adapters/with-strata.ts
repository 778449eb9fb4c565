/**
 * Measures what `withStrata` adds to the requests of a program that resends its list: the first request of a new process, and the later
 * ones. The same program runs with the bare SDK too. The packages are bundled as they are published.
 *
 *     npm run bench -- with
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"
import { bundlePackages } from "../../tests/bundle.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "../measure.ts"
import { startStepServer } from "./growing-list.ts"

const ROOT = join(import.meta.dirname, "..", "..", "..")
const TEST_BUILD = join(ROOT, ".test-build")
const SIZES = isShort ? [150_000] : [150_000, 600_000]
const PROCESSES = isShort ? 2 : 7
const REQUESTS = isShort ? 10 : 40
const WARM_UP = isShort ? 3 : 10

type Kind = "bare" | "managed"

interface Cost {
  readonly ms: number
  readonly processorMs: number
}

interface Costs {
  readonly first: Cost[]
  readonly later: Cost[]
}

mkdirSync(TEST_BUILD, { recursive: true })
const bundled = mkdtempSync(join(TEST_BUILD, "bench-")) // inside the workspace, so that libraries resolve
process.once("exit", () => rmSync(bundled, { recursive: true, force: true }))
const program = join(bundled, "bench", "client.mjs")
const server = await startStepServer()
await bundlePackages(ROOT, bundled)
await build({
  entryPoints: [join(import.meta.dirname, "with-client.ts")],
  outfile: program,
  bundle: true,
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node24",
  logLevel: "error",
})

await inTemporaryDirectory(async (directory) => {
  console.log("a program that resends its list, processor time of a request")
  const later: number[] = []
  for (const tokens of SIZES) {
    const costs = { bare: noCosts(), managed: noCosts() }
    for (let run = 0; run < PROCESSES; run++)
      for (const kind of ["bare", "managed"] as const) {
        const requests = run === 0 ? WARM_UP + REQUESTS : 1
        await runProgram(kind, { directory: join(directory, `${tokens}-${run}`), tokens, requests }, costs[kind])
      }
    console.log(`${tokens.toLocaleString("en")} tokens`)
    console.log(`  first request   ${describe(costs, "first")}`)
    console.log(`  later requests  ${describe(costs, "later")}`)
    later.push(median(costs.managed.later, "processorMs") - median(costs.bare.later, "processorMs"))
  }
  if (later.length > 1)
    console.log(`  a list four times as long adds ${(later.at(-1)! / later[0]!).toFixed(1)} times as much`)
})
server.close()

function noCosts(): Costs {
  return { first: [], later: [] }
}

async function runProgram(
  kind: Kind,
  { directory, tokens, requests }: { readonly directory: string; readonly tokens: number; readonly requests: number },
  into: Costs,
): Promise<void> {
  const child: ChildProcess = fork(program, [kind, server.url, directory, `${tokens}`, `${requests}`])
  let number = 0
  child.on("message", (cost: Cost) => {
    if (number === 0) into.first.push(cost)
    else if (number >= WARM_UP) into.later.push(cost)
    number++
  })
  const [code] = (await once(child, "exit")) as [number]
  if (code !== 0 || number !== requests)
    throw new Error(`The ${kind} program ended with ${code} after ${number} requests.`)
}

function describe(costs: Readonly<Record<Kind, Costs>>, which: keyof Costs): string {
  const parts = (["managed", "bare"] as const).map((kind) => {
    const processor = milliseconds(median(costs[kind][which], "processorMs"))
    return `${kind} ${processor.padEnd(8)} (waits ${milliseconds(median(costs[kind][which], "ms"))})`
  })
  return parts.join("   ")
}

function median(costs: readonly Cost[], of: keyof Cost): number {
  return quantile(
    costs.map((cost) => cost[of]),
    0.5,
  )
}
