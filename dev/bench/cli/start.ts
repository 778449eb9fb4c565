/**
 * Measures the cost of a start: processor time of the built program and library in new processes, as a multiple of a bare Node in the same
 * run. Needs `npm run build` first. `--against=DIRECTORY` measures another build in turn with this one.
 *
 *     npm run build && npm run bench -- start
 */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, realpathSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { scriptedResponder, startSimulator } from "@strata/sim"
import { inTemporaryDirectory, isShort, quantile } from "../measure.ts"

const ROUNDS = isShort ? 5 : 15
const METER = join(import.meta.dirname, "processor-time.py")
const ROOT = join(import.meta.dirname, "..", "..", "..")

const CARRIED = {
  messages: [
    { role: "user", content: "Rename the option depth to levels in src/tree.ts." },
    { role: "assistant", content: "I renamed it in src/tree.ts and in its test. All 14 tests pass." },
  ],
}
const ASKED = { jsonrpc: "2.0", id: 1, method: "ping" }

interface Start {
  readonly what: string
  readonly args: (build: string) => readonly string[]
  /** Text that is typed or piped into the program. */
  readonly input?: string
  /** Text on the screen that ends the measurement of a program in a terminal. */
  readonly until?: string
}

const program = (build: string, ...args: readonly string[]) => [join(build, "cli/dist/main.js"), ...args]

const OPEN = `
const processorMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1_000 }
const [, sdk, library] = process.argv
const client = new (await import(sdk)).default({ apiKey: "none" })
const started = processorMs()
const { openConversation } = await import(library)
const imported = processorMs()
const chat = await openConversation({ model: "claude-opus-5-5", client })
const opened = processorMs()
await chat.close()
process.stderr.write(JSON.stringify([imported - started, opened - imported]))`

const STARTS: readonly Start[] = [
  { what: "strata --help", args: (build) => program(build, "--help") },
  { what: "strata run hi", args: (build) => program(build, "run", "hi") },
  { what: "strata chat, first frame", args: (build) => program(build, "chat"), until: "─{20}" },
  { what: "strata chat, open", args: (build) => program(build, "chat"), until: "claude-opus-5-5" },
  {
    what: "strata compact-messages",
    args: (build) => program(build, "compact-messages"),
    input: JSON.stringify(CARRIED),
  },
  { what: "strata mcp", args: (build) => program(build, "mcp"), input: `${JSON.stringify(ASKED)}\n` },
]

interface StartContext {
  readonly directory: string
  readonly server: string
}

let places = 0

/** The environment of a start: its own home and project, and the compile cache of earlier starts. */
function environment({ directory, server }: StartContext) {
  const cwd = join(directory, `${++places}`)
  mkdirSync(cwd)
  const { PATH } = process.env
  const env = { PATH, HOME: cwd, STRATA_HOME: join(cwd, "home"), TMPDIR: directory, TERM: "xterm-256color" }
  return { cwd, env: { ...env, ANTHROPIC_BASE_URL: server } }
}

async function metered(
  command: readonly string[],
  context: StartContext,
  { input = "", until = "" }: Partial<Start> = {},
) {
  const run = promisify(execFile)("python3", [METER, input, until, ...command], environment(context))
  return Number((await run).stdout)
}

async function opening(build: string, context: StartContext): Promise<readonly number[]> {
  const modules = [import.meta.resolve("@anthropic-ai/sdk"), join(build, "core/dist/index.js")]
  const command = ["--input-type=module", "-e", OPEN, ...modules]
  const run = promisify(execFile)(process.execPath, command, environment(context))
  return JSON.parse((await run).stderr) as number[]
}

const builds = [
  ...process.argv.filter((word) => word.startsWith("--against=")).map((word) => resolve(word.slice(9))),
  join(ROOT, "build"),
]
const missing = builds.find((build) => !existsSync(join(build, "cli/dist/main.js")))
if (missing !== undefined) {
  console.error(`There is no build in ${missing}. "npm run build" writes one.`)
  process.exit(1)
}

await inTemporaryDirectory(async (made) => {
  const directory = realpathSync(made)
  const sim = await startSimulator({ responder: scriptedResponder(Array.from({ length: 1_000 }, () => "Hello.")) })
  const context = { directory, server: sim.url }
  const samples = new Map<string, number[]>()
  const add = (key: string, ms: number) => samples.set(key, [...(samples.get(key) ?? []), ms])
  for (let round = -2; round < ROUNDS; round++) {
    const bare = await metered([process.execPath, "-e", "0"], context)
    if (round >= 0) add("bare", bare)
    for (const [at, build] of builds.entries()) {
      for (const start of STARTS) {
        const ms = await metered([process.execPath, ...start.args(build)], context, start)
        if (round >= 0) add(`${at} ${start.what}`, ms)
      }
      const [load, open] = await opening(build, context)
      if (round < 0) continue
      add(`${at} import "@strata/core"`, load!)
      add(`${at} first openConversation`, open!)
    }
  }
  await sim.close()
  const bare = quantile(samples.get("bare")!, 0.5)
  console.log(`processor time, median of ${ROUNDS} processes; a bare node takes ${bare.toFixed(0)} ms`)
  for (const what of [...STARTS.map((start) => start.what), 'import "@strata/core"', "first openConversation"]) {
    const shown = builds.map((_, at) => {
      const ms = quantile(samples.get(`${at} ${what}`)!, 0.5)
      return `${(ms / bare).toFixed(1).padStart(6)} × ${ms.toFixed(0).padStart(5)} ms`
    })
    console.log(`  ${what.padEnd(26)}${shown.join("   ")}`)
  }
})
