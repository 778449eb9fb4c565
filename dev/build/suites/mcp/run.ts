/**
 * Runs the conformance suite of MCP: its client scenarios on `mcpServers()` of `@strata/core`, its server scenarios on `strata mcp` over HTTP
 * and over standard input. Prints a line for each part.
 *
 *     node dev/build/suites/mcp/run.ts              on the sources
 *     node dev/build/suites/mcp/run.ts DIRECTORY    on the packages in the `node_modules` of a directory
 *
 * The directory needs `@strata/core`, `strata-agent` with its command in `.bin`, and `@modelcontextprotocol/client`. The client of the suite is
 * copied into it and removed at the end. `not-offered.yml` lists the scenarios that do not apply, with reasons.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { ROOT } from "../../packages.ts"
import { overHttp, overStdio, type Program } from "./server.ts"

const SUITE = join(ROOT, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
const NOT_OFFERED = ["--expected-failures", join(import.meta.dirname, "not-offered.yml")]
const MAX_MS = 120_000 // limit of one client scenario; a loaded machine starts Node slowly
const IS_NOT_OFFERED = /^\s+~ /gm // the suite's mark of a failure that is in the list

/** Scenarios for standard input. The others concern HTTP, or features that `strata mcp` does not offer. */
const ON_STDIO = [
  ...["server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "resources-list"],
  ...["resources-read-text", "prompts-list", "prompts-get-simple", "prompts-get-with-args"],
]

/** Result of one part of the suite. */
export interface ConformanceResult {
  readonly part: "client" | "server over HTTP" | "server over stdio"
  /** Number of passed scenarios. */
  readonly passed: number
  /** Number of scenarios in `not-offered.yml`. */
  readonly notOffered: number
  /** Output of the suite for each scenario that failed unexpectedly, or that passes although it is listed in `not-offered.yml`. */
  readonly failures: readonly string[]
}

/** `directory` has the installed packages. Default: the repository with its sources. */
export async function runMcpSuite(directory?: string): Promise<readonly ConformanceResult[]> {
  const scratch = mkdtempSync(join(tmpdir(), "strata-conformance-"))
  const copy = directory === undefined ? undefined : mkdtempSync(join(directory, "suite-mcp-"))
  const client = join(copy ?? import.meta.dirname, "client.ts")
  if (copy !== undefined) cpSync(join(import.meta.dirname, "client.ts"), client)
  const { PATH } = process.env
  const program: Program = {
    command:
      directory === undefined
        ? [process.execPath, join(ROOT, "packages", "cli", "src", "main.ts")]
        : [process.execPath, join(directory, "node_modules", ".bin", "strata")],
    env: { PATH, HOME: scratch, STRATA_HOME: join(scratch, "home"), TMPDIR: scratch },
    cwd: scratch,
  }
  try {
    return [await onClient(client), await onHttp(program), await onStdio(program)]
  } finally {
    rmSync(scratch, { recursive: true, force: true })
    if (copy !== undefined) rmSync(copy, { recursive: true, force: true })
  }
}

/** Runs the client scenarios one after the other, because some measure time. */
async function onClient(file: string): Promise<ConformanceResult> {
  const command = [process.execPath, file].map((word) => JSON.stringify(word)).join(" ")
  const { output } = await suite("list", "--client")
  const scenarios = [...output.matchAll(/^\s+- (\S+)/gm)].map(([, name]) => name!)
  const runs = []
  for (const scenario of scenarios)
    runs.push(await suite("client", "--command", command, "--scenario", scenario, "--timeout", `${MAX_MS}`))
  return summed("client", runs)
}

async function onHttp(program: Program): Promise<ConformanceResult> {
  const server = await overHttp(program)
  try {
    const run = await suite("server", "--url", server.url, "--suite", "all")
    const passed = [...run.output.matchAll(/^✓ /gm)].length
    const notOffered = [...run.output.matchAll(IS_NOT_OFFERED)].length
    return { part: "server over HTTP", passed, notOffered, failures: run.isGood ? [] : [run.output] }
  } finally {
    await server.close()
  }
}

async function onStdio(program: Program): Promise<ConformanceResult> {
  const server = await overStdio(program)
  try {
    const runs = []
    for (const scenario of ON_STDIO) runs.push(await suite("server", "--url", server.url, "--scenario", scenario))
    return summed("server over stdio", runs)
  } finally {
    await server.close()
  }
}

interface SuiteRun {
  readonly isGood: boolean
  readonly output: string
}

async function suite(...args: readonly string[]): Promise<SuiteRun> {
  const list = args[0] === "list" ? [] : NOT_OFFERED
  const child = spawn(process.execPath, [SUITE, ...args, ...list], { stdio: ["ignore", "pipe", "pipe"] })
  const ended = once(child, "exit") as Promise<[number | null]>
  const [printed, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the suite prints colours
  return { isGood: code === 0, output: `${printed}${errors}`.replace(/\u001b\[\d+m/g, "") }
}

function summed(part: ConformanceResult["part"], runs: readonly SuiteRun[]): ConformanceResult {
  const notOffered = runs.filter(({ output }) => output.match(IS_NOT_OFFERED)).length
  const failures = runs.filter(({ isGood }) => !isGood).map(({ output }) => output)
  return { part, passed: runs.length - notOffered - failures.length, notOffered, failures }
}

if (import.meta.main) {
  const results = await runMcpSuite(process.argv[2])
  for (const { part, passed, notOffered, failures } of results) {
    console.log(
      `${failures.length === 0 ? "✓" : "✗"} ${part}: ${passed} scenarios passed, ${notOffered} are not offered, ${failures.length} failed`,
    )
    for (const failure of failures) console.log(failure)
  }
  if (results.some(({ passed, failures }) => passed === 0 || failures.length > 0)) process.exitCode = 1
}
