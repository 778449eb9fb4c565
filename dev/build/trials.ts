/**
 * Actions of a user with installed packages, each in its own process in the user's directory: import, type-check, run the programs of the
 * documentation, call the commands. A trial throws if the packages do not do what they promise.
 */
import { spawn } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, posix } from "node:path"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"
import { install, linkThirdParty, type PackedPackage } from "./install.ts"
import type { AloneOutcome } from "./library-alone.ts"
import { compiled } from "./manifest.ts"
import { OWN_MANIFEST, ROOT } from "./packages.ts"
import { runToEnd } from "./run-to-end.ts"
import type { SnippetOutcome } from "./snippets.ts"
import type { ProgramResult } from "./user-program.ts"

export interface User {
  readonly directory: string
  readonly packages: readonly PackedPackage[]
}

export interface InstallTrial {
  readonly what: string
  run(user: User): Promise<void> | void
}

const PROGRAM = join("dev", "build", "user-program.ts")
const SNIPPETS = join("dev", "build", "snippets.ts")
const ALONE = join("dev", "build", "library-alone.ts")
/** Compiles only if Strata's types are found without internal members; otherwise an expected error is missing. */
const WRONG_USE = `import { type Agent, type Conversation, openConversation } from "@strata/core"
// @ts-expect-error a number is not a model
export const chat = openConversation({ model: 5 })
// @ts-expect-error views are internal
export type Views = Conversation["views"]
// @ts-expect-error the context that sub-agents get from their lead is internal
export type SharedContext = Agent["shared"]
`
/** The user has no test runner here, and the declarations of LangGraph do not pass these options. Tests of the documentation run the blocks. */
const NOT_CHECKED_HERE = /from "(?:vitest|@langchain\/langgraph)"/
/** The strictest options, which also check the declarations of other packages. */
export const USER_TSCONFIG = {
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: false,
  },
  include: ["*.ts", "examples", "dev"],
}

export const TRIALS: readonly InstallTrial[] = [
  { what: "every subpath and every file can be imported", run: importEverything },
  { what: "a user's files and the examples of the READMEs pass the type check", run: typeCheck },
  { what: "the README's loop and the agent work against the simulator, through compactions", run: runPrograms },
  { what: "the three snippets of the front door do what they say", run: runSnippets },
  { what: "the README's loop and the agent work as one bundled file, away from all packages", run: runBundle },
  {
    what: "the library alone: an own loop without MCP client and ripgrep, and an agent that names what it lacks",
    run: runAlone,
  },
  { what: "types and program fit the oldest zod and OpenTelemetry that the peer ranges allow", run: useOldestPeers },
  { what: "strata --version, strata --help, strata-sim --help and strata demo", run: runCommands },
  { what: "the example in the README of @strata/core runs unchanged against strata sim", run: runReadme },
]

/** Peers that only one subpath needs. A user who imports that subpath has them. */
const ENTRY_PEERS = ["@langchain/langgraph-checkpoint"]

/** Writes the files that the trials use: the examples, and every TypeScript block of a README as its own file. */
export function prepareUser({ directory, packages }: User): void {
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(USER_TSCONFIG))
  writeFileSync(join(directory, "wrong-use.ts"), WRONG_USE)
  const examples = globSync("examples/*.ts", { cwd: ROOT }).filter((file) => !file.endsWith(".test.ts"))
  for (const file of [...examples, PROGRAM, SNIPPETS]) cpSync(join(ROOT, file), join(directory, file))
  for (const { folder, directory: built } of packages) {
    const text = readFileSync(join(built, "README.md"), "utf8")
    for (const [at, [, code]] of [...text.matchAll(/^```ts\n(.*?)^```$/gms)].entries())
      if (!NOT_CHECKED_HERE.test(code!)) writeFileSync(join(directory, `${folder}-readme-${at + 1}.ts`), code!)
  }
}

/** Imports every file, including those that only a command loads. Other trials run the commands, because importing one starts it. */
function importEverything(user: User): void {
  for (const name of ENTRY_PEERS) linkThirdParty(user.directory, name)
  const specifiers = user.packages.flatMap(({ manifest, paths }) => {
    const { name, exports = {}, bin = {} } = manifest
    const commands = Object.values(bin)
    const subpaths = Object.keys(exports).filter((subpath) => ![...commands, OWN_MANIFEST].includes(exports[subpath]!))
    const files = paths.filter((path) => path.endsWith(".js") && !commands.some((command) => isFileOf(command, path)))
    return [
      ...subpaths.map((subpath) => posix.join(name, subpath)),
      ...files.map((path) => pathToFileURL(join(user.directory, "node_modules", name, path)).href),
    ]
  })
  const manifests = user.packages.map(({ manifest }) => posix.join(manifest.name, OWN_MANIFEST))
  const code = `for (const one of ${JSON.stringify(specifiers)}) await import(one)
for (const one of ${JSON.stringify(manifests)}) await import(one, { with: { type: "json" } })`
  node(user, ["--input-type=module", "-e", code])
}

/** Whether a file is the one of `path`, including a part of a bundle that loads later: `main-4QX7J2ZA.js`. */
const isFileOf = (source: string, path: string) =>
  posix.join(".", compiled(source)) === path.replace(/-[0-9A-Z]{8}\.js$/, ".js")

/** Reports errors in all declarations, including third-party ones, because a user sees them all. */
export function typeCheck(user: User, config = "tsconfig.json"): void {
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc")
  node(user, [compiler, "-p", config])
}

function runPrograms(user: User): void {
  checkOutcome(node(user, [PROGRAM]))
}

function checkOutcome(printed: string): void {
  const { answered, compactions, agentEnd, refused } = JSON.parse(printed) as ProgramResult
  expect(answered && compactions > 0 && agentEnd === "answer" && refused === 0, `The program printed ${printed}`)
}

function runSnippets(user: User): void {
  const printed = node(user, [SNIPPETS])
  const { cacheReads, sentWhole, answer, cost, weatherInput, withoutKey } = JSON.parse(printed) as SnippetOutcome
  const isLoop = cacheReads.at(-1)! > 0 && !sentWhole
  const isAgent = answer === "answer: I fixed it." && cost !== undefined && cost > 0 && weatherInput === "OSLO"
  const isThrown = withoutKey.every((outcome) => outcome === "AuthenticationError")
  expect(isLoop && isAgent && isThrown, `The snippets printed ${printed}`)
}

/** Defines `require` in an ES module, because some third-party packages are CommonJS. */
const REQUIRE =
  'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);'

/** Bundles everything into one file, and runs it where neither packages nor files of Strata are found. */
function runBundle(user: User): void {
  const away = mkdtempSync(join(tmpdir(), "strata-bundle-"))
  try {
    const file = join(away, "program.mjs")
    const options = ["--bundle", "--platform=node", "--format=esm", `--banner:js=${REQUIRE}`, "--log-level=error"]
    runToEnd(join(ROOT, "node_modules", ".bin", "esbuild"), [PROGRAM, ...options, `--outfile=${file}`], {
      cwd: user.directory,
    })
    checkOutcome(node({ ...user, directory: away }, [file]))
  } finally {
    rmSync(away, { recursive: true, force: true })
  }
}

/** Runs with only `@strata/core` and the packages that npm installs with it. The simulator is in another process. */
async function runAlone(user: User): Promise<void> {
  const core = user.packages.filter(({ folder }) => folder === "core")
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "strata-alone-")))
  const alone = { directory, packages: core }
  try {
    install(core, directory)
    writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "alone", private: true, type: "module" }))
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(USER_TSCONFIG))
    for (const file of ["examples/own-loop.ts", "examples/read-only-tools.ts", ALONE])
      cpSync(join(ROOT, file), join(directory, file))
    typeCheck(alone)
    await withSimulator(user, (url) => {
      const printed = node(alone, [ALONE], { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none" })
      const { answered, agentEnd, problems } = JSON.parse(printed) as AloneOutcome
      const named = OPTIONAL.every((name) => problems.some((problem) => problem.includes(`npm install ${name}`)))
      expect(answered && agentEnd === "answer" && named, `The program printed ${printed}`)
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const OPTIONAL = ["@modelcontextprotocol/client", "@vscode/ripgrep"]

/** Names of the oldest supported versions in the workspace's `node_modules`. */
const OLDEST_PEERS = { zod: "zod-3", "@opentelemetry/api": "opentelemetry-api-oldest" }

function useOldestPeers(user: User): void {
  try {
    for (const [name, oldest] of Object.entries(OLDEST_PEERS)) linkThirdParty(user.directory, name, oldest)
    typeCheck(user)
    runPrograms(user)
  } finally {
    for (const name of Object.keys(OLDEST_PEERS)) linkThirdParty(user.directory, name)
  }
}

async function runReadme(user: User): Promise<void> {
  await withSimulator(user, (url) => {
    const printed = node(user, ["core-readme-1.ts"], { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none" })
    expect(/\d+ tokens of the window are used/.test(printed), `The README's example printed ${printed}`)
  })
}

function runCommands(user: User): void {
  const { version } = user.packages[0]!.manifest
  expect(command(user, "strata", "--version") === `${version}\n`, `strata --version does not print ${version}.`)
  expect(command(user, "strata", "--help").includes("inspect"), "strata --help does not name the commands.")
  expect(command(user, "strata-sim", "--help").includes("--port"), "strata-sim --help does not name its options.")
  const demo = command(user, "strata", "demo", "--turns", "6", "--fast")
  expect(demo.includes("What happened"), `strata demo ended without its summary:\n${demo}`)
}

/** Runs `strata sim` and ends it with a signal, as a user does. */
async function withSimulator(user: User, use: (url: string) => Promise<void> | void): Promise<void> {
  const child = spawn(join(user.directory, "node_modules", ".bin", "strata"), ["sim", "--port", "0"], {
    cwd: user.directory,
    env: environment(user),
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = new Promise<unknown>((resolve) => child.once("exit", resolve).once("error", resolve))
  try {
    const output: string[] = []
    let url: string | undefined
    for await (const line of createInterface(child.stdout)) {
      output.push(line)
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
      if (url !== undefined) break
    }
    if (url === undefined) throw new Error(`strata sim ended (${await ended}) without an address: ${output.join(" ")}`)
    await use(url)
  } finally {
    child.kill("SIGTERM")
  }
  expect((await ended) === 0, "strata sim did not end with code 0.")
}

export function node(user: User, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  return runToEnd(process.execPath, args, { cwd: user.directory, env: { ...environment(user), ...env } })
}

function command(user: User, name: string, ...args: readonly string[]): string {
  const program = join(user.directory, "node_modules", ".bin", name)
  return runToEnd(program, args, { cwd: user.directory, env: environment(user) })
}

/** Environment without Strata's settings and keys, and without the variables that npm sets for scripts of the workspace. */
export function environment({ directory }: User): NodeJS.ProcessEnv {
  return {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: directory,
    STRATA_HOME: join(directory, "home"),
    TMPDIR: directory,
  }
}

export function expect(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem)
}
