/**
 * Checks built packages as a user finds them: their files, publint's report, and every trial. Prints a line for each, and the start time of
 * the library. Returns whether everything passed.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { install, type PackedPackage, pack, packedFiles } from "./install.ts"
import { ROOT } from "./packages.ts"
import { problemsIn } from "./problems.ts"
import { runToEnd } from "./run-to-end.ts"
import { environment, prepareUser, TRIALS, type User } from "./trials.ts"
import { TRIALS_WITH_OTHERS } from "./trials-with-others.ts"
import type { BuiltPackage } from "./write-packages.ts"

const STARTS = 9

export async function checkPackages(built: readonly BuiltPackage[]): Promise<boolean> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "strata-user-")))
  try {
    const packages = pack(built, directory)
    const user = { directory, packages }
    install(packages, directory)
    prepareUser(user)
    let passed = true
    for (const { what, run } of [
      ...packages.map((one) => inspection(one, directory)),
      ...TRIALS,
      ...TRIALS_WITH_OTHERS,
    ]) {
      const started = performance.now()
      const problem = await problemOf(() => run(user))
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      console.log(`${problem === undefined ? "✓" : "✗"} ${what} (${seconds} s)${problem ? `\n${problem}` : ""}`)
      passed &&= problem === undefined
    }
    console.log(startTime(user))
    return passed
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Checks the files of one package. */
function inspection(packed: PackedPackage, directory: string) {
  const { manifest, paths, size } = packed
  return {
    what: `${manifest.name} ${manifest.version}: ${paths.length} files, ${Math.round(size / 1_000)} KB packed`,
    run: async () => {
      const machinePaths = [ROOT, directory, homedir()]
      const problems = [...problemsIn(packedFiles(packed, directory), { machinePaths }), ...(await linted(packed))]
      if (problems.length > 0) throw new Error(problems.join("\n"))
    },
  }
}

async function linted({ directory }: PackedPackage): Promise<readonly string[]> {
  const { messages, pkg } = await publint({ pkgDir: directory, pack: false, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`)
}

async function problemOf(run: () => Promise<void> | void): Promise<string | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const START = `
const processorMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1_000 }
const client = new (await import("@anthropic-ai/sdk")).default({ apiKey: "none" })
const started = processorMs()
const { openConversation } = await import("@strata/core")
const imported = processorMs()
const chat = await openConversation({ model: "claude-opus-5-5", client })
const opened = processorMs()
await chat.close()
console.log(JSON.stringify([imported - started, opened - imported]))`

/** Processor time in a new process that has already loaded the client. It varies less than elapsed time. */
function startTime(user: User): string {
  const options = { cwd: user.directory, env: environment(user) }
  const runs = Array.from(
    { length: STARTS },
    () => JSON.parse(runToEnd(process.execPath, ["--input-type=module", "-e", START], options)) as [number, number],
  )
  const [load, open] = [0, 1].map(
    (at) => runs.map((run) => run[at]!).toSorted((a, b) => a - b)[Math.floor(STARTS / 2)]!,
  )
  const imports = ADAPTERS.map((adapter) => `${adapter} ${(importTime(user, adapter) / load!).toFixed(2)}`)
  return [
    `processor time, median of ${STARTS} processes: import "@strata/core" ${load!.toFixed(0)} ms, the first openConversation ${open!.toFixed(0)} ms`,
    `import of an adapter, as a multiple of "@strata/core": ${imports.join(", ")}`,
  ].join("\n")
}

/** Adapters that import no third-party package. */
const ADAPTERS = [
  ...["anthropic", "ai-sdk", "mastra", "langchain"].map((name) => `@strata/adapters/${name}`),
  ...["openai-agents", "claude-agent-sdk"].map((name) => `@strata/sessions/${name}`),
]

const IMPORT = `
const processorMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1_000 }
const started = processorMs()
await import(process.argv[1])
console.log(processorMs() - started)`

function importTime(user: User, adapter: string): number {
  const args = ["--input-type=module", "-e", IMPORT, adapter]
  const options = { cwd: user.directory, env: environment(user) }
  const runs = Array.from({ length: STARTS }, () => Number(runToEnd(process.execPath, args, options)))
  return runs.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)]!
}
