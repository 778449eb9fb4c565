/**
 * Checks built packages as a user finds them: their files, what publint reports, and every trial. Prints a line for each and how long the
 * library takes to load. Returns whether everything passed.
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
import type { BuiltPackage } from "./write-packages.ts"

const IMPORT_RUNS = 15

export async function checkPackages(built: readonly BuiltPackage[]): Promise<boolean> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "strata-user-")))
  try {
    const packages = pack(built, directory)
    const user = { directory, packages }
    install(packages, directory)
    prepareUser(user)
    let passed = true
    for (const { what, run } of [...packages.map((one) => inspection(one, directory)), ...TRIALS]) {
      const started = performance.now()
      const problem = await problemOf(() => run(user))
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      console.log(`${problem === undefined ? "✓" : "✗"} ${what} (${seconds} s)${problem ? `\n${problem}` : ""}`)
      passed &&= problem === undefined
    }
    console.log(importTime(user))
    return passed
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Looks through the files of one package. */
function inspection(packed: PackedPackage, directory: string) {
  const { manifest, paths } = packed
  return {
    what: `${manifest.name} ${manifest.version}: ${paths.length} files`,
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

/** How long the library takes to load in a new process, without the start of the process. */
function importTime(user: User): string {
  const code = `const t = performance.now(); await import("@strata/core"); console.log(performance.now() - t)`
  const options = { cwd: user.directory, env: environment(user) }
  const samples = Array.from({ length: IMPORT_RUNS }, () =>
    Number(runToEnd(process.execPath, ["--input-type=module", "-e", code], options)),
  )
  const median = samples.toSorted((a, b) => a - b)[Math.floor(IMPORT_RUNS / 2)]!
  return `import "@strata/core": ${median.toFixed(0)} ms, median of ${IMPORT_RUNS} processes`
}
