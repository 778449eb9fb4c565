/**
 * Runs LangGraph's validation suite on files, on memory and on PostgreSQL, and prints a line for each.
 *
 *     node dev/build/suites/langgraph/run.ts              on the sources
 *     node dev/build/suites/langgraph/run.ts DIRECTORY    on the packages in the `node_modules` of a directory
 *
 * The directory needs the packages that `validation.ts` names. The suite is copied into it and removed at the end.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { newestPrograms, startServer } from "../../../../packages/postgres/test/server.ts"
import { ROOT } from "../../packages.ts"

const FILES = ["validation.ts", "vitest.config.ts"]
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs")
const MAX_MS = 600_000 // for a loaded machine; the suite takes seconds

/** Result of the suite on one store. */
export interface SuiteResult {
  readonly store: string
  readonly passed: boolean
  /** Last lines of the test runner: the number of passed tests, or the failures. */
  readonly output: string
}

/** `directory` has the installed packages. Default: the repository with its sources. */
export async function runLanggraphSuite(directory?: string): Promise<readonly SuiteResult[]> {
  const copy = directory === undefined ? undefined : mkdtempSync(join(directory, "suite-langgraph-"))
  for (const file of copy === undefined ? [] : FILES) cpSync(join(import.meta.dirname, file), join(copy!, file))
  const config = join(copy ?? import.meta.dirname, "vitest.config.ts")
  try {
    const results = ["files", "memory"].map((store) => runOn(store, config))
    // some platforms have no PostgreSQL on npm
    return newestPrograms() === undefined ? results : [...results, await runOnPostgres(config)]
  } finally {
    if (copy !== undefined) rmSync(copy, { recursive: true, force: true })
  }
}

async function runOnPostgres(config: string): Promise<SuiteResult> {
  const server = await startServer()
  try {
    return runOn("postgres", config, { SUITE_POSTGRES: server.url() })
  } finally {
    await server.stop()
  }
}

function runOn(store: string, config: string, env: NodeJS.ProcessEnv = {}): SuiteResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [VITEST, "run", "--config", config], {
    env: { ...process.env, NO_COLOR: "1", SUITE_STORE: store, ...env },
    encoding: "utf8",
    timeout: MAX_MS,
  })
  const lines = `${stdout}${stderr}`.trim().split("\n")
  const summary = lines.find((line) => /^\s*Tests\s/.test(line))?.trim()
  const passed = status === 0 && summary !== undefined
  return { store, passed, output: passed ? summary : lines.slice(-80).join("\n") }
}

if (import.meta.main) {
  const results = await runLanggraphSuite(process.argv[2])
  for (const { store, passed, output } of results) console.log(`${passed ? "✓" : "✗"} ${store}: ${output}`)
  if (!results.every(({ passed }) => passed)) process.exitCode = 1
}
