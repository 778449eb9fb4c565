/**
 * Trials of installed packages together with third-party software: stores on a database, frameworks, their own suites, other compilers,
 * older versions of Node. Each throws if the packages do not do what they promise.
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { basename, join } from "node:path"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { startServer } from "../../packages/postgres/test/server.ts"
import { type CodeBlock, codeBlocks } from "../docs/code-blocks.ts"
import { type BlockContext, layOut, type Ran, runCommands, runPrograms } from "../docs/run-block.ts"
import { importsOf, packageNameOf } from "./imports.ts"
import { linkThirdParty, type PackedPackage } from "./install.ts"
import { isLibrary, OWN_MANIFEST, ROOT } from "./packages.ts"
import { runLanggraphSuite } from "./suites/langgraph/run.ts"
import { runMcpSuite } from "./suites/mcp/run.ts"
import { expect, type InstallTrial, node, typeCheck, USER_TSCONFIG, type User } from "./trials.ts"

/** The pages that new users read first, and the page of the adapters. */
const PAGES = ["README.md", "docs/getting-started.md", "docs/frameworks.md", "packages/sessions/README.md"]
const ON_STORES = join("dev", "build", "adapters-on-stores.ts")
const MAX_BYTES: Readonly<Record<string, number>> = { "@strata/adapters": 200_000, "@strata/sessions": 120_000 }

export const TRIALS_WITH_OTHERS: readonly InstallTrial[] = [
  { what: "there is one core: its classes are in no other package, and adapters are small", run: findOneCore },
  { what: "every entry can be required by a CommonJS program", run: requireEverything },
  { what: "types resolve for a bundler too", run: typeCheckForBundlers },
  { what: "types resolve as they should, says @arethetypeswrong/core", run: checkTypes },
  { what: `every code block of ${PAGES.join(", ")} does what it says`, run: runPages },
  {
    what: "7 adapters and the proxy keep conversations in files, memory and PostgreSQL, with an owner or none",
    run: runOnStores,
  },
  { what: "LangGraph's validation suite passes on files, memory and PostgreSQL", run: validateLanggraph },
  { what: "the conformance suite of MCP passes for client and server", run: conformToMcp },
  { what: "an older Node says which one it needs", run: useOlderNode },
]

function findOneCore({ packages, directory }: User): void {
  const declaring = packages.filter(({ manifest: { name }, paths }) =>
    paths.some(
      (path) =>
        path.endsWith(".js") &&
        /\bStrataError ?= ?class\b|\bclass StrataError\b/.test(installed(directory, name, path)),
    ),
  )
  const names = declaring.map(({ manifest }) => manifest.name)
  expect(names.join() === "@strata/core", `class StrataError is in ${names.join(", ")}.`)
  for (const { manifest, unpackedSize } of packages) {
    const limit = MAX_BYTES[manifest.name] ?? Number.POSITIVE_INFINITY
    expect(unpackedSize < limit, `${manifest.name} has ${unpackedSize} bytes, more than ${limit}.`)
  }
}

const installed = (directory: string, name: string, path: string): string =>
  readFileSync(join(directory, "node_modules", name, path), "utf8")

function requireEverything(user: User): void {
  const entries = user.packages.flatMap(({ manifest: { name, exports = {}, bin = {} } }) =>
    Object.keys(exports)
      .filter((subpath) => ![...Object.values(bin), OWN_MANIFEST].includes(exports[subpath]!))
      .map((subpath) => name + subpath.slice(1)),
  )
  node(user, ["--input-type=commonjs", "-e", `for (const one of ${JSON.stringify(entries)}) require(one)`])
}

function typeCheckForBundlers(user: User): void {
  const config = "tsconfig.bundler.json"
  const compilerOptions = { ...USER_TSCONFIG.compilerOptions, module: "esnext", moduleResolution: "bundler" }
  writeFileSync(join(user.directory, config), JSON.stringify({ ...USER_TSCONFIG, compilerOptions }))
  typeCheck(user, config)
}

/** Problems that are accepted: all packages are ES modules, which an old resolver and a CommonJS file of TypeScript cannot import. */
const FOR_ES_MODULES_ALONE = new Set(["CJSResolvesToESM", "NoResolution"])

async function checkTypes({ packages }: User): Promise<void> {
  for (const { manifest, tarball } of packages.filter(({ manifest }) => isLibrary(manifest))) {
    const { problems = [] } = (await checkPackage(createPackageFromTarballData(readFileSync(tarball)))) as {
      readonly problems?: readonly { readonly kind: string; readonly resolutionKind?: string }[]
    }
    const real = problems.filter(
      ({ kind, resolutionKind }) =>
        !(FOR_ES_MODULES_ALONE.has(kind) && /^node10$|cjs$/.test(resolutionKind ?? "node10")),
    )
    expect(real.length === 0, `${manifest.name}: ${JSON.stringify(real)}`)
  }
}

async function runPages(user: User): Promise<void> {
  const programs = {
    strata: join(user.directory, "node_modules", ".bin", "strata"),
    simulator: join(user.directory, "node_modules", ".bin", "strata-sim"),
  }
  for (const page of PAGES) {
    const directory = join(user.directory, "pages", basename(page, ".md"))
    const blocks = codeBlocks(page, readFileSync(join(ROOT, page), "utf8"))
    linkImports(user, ...blocks.map(({ code }) => code))
    layOut(directory)
    for (const { plan, code } of blocks) if (plan.kind === "file") writeFileSync(join(directory, plan.name), code)
    await runBlocks(blocks, { programs, directory })
  }
}

async function runBlocks(blocks: readonly CodeBlock[], place: BlockContext): Promise<void> {
  const runnable = blocks.filter(({ plan, language }) => plan.kind === "run" && language !== "json")
  const ofPrograms = runnable.filter(({ language }) => language === "ts")
  const ran = ofPrograms.length === 0 ? [] : await runPrograms(ofPrograms, place)
  for (const [at, block] of ofPrograms.entries()) checkRun(block, ran[at]!)
  for (const block of runnable) if (block.language === "sh") checkRun(block, await runCommands(block, place))
}

function checkRun({ page, line, plan }: CodeBlock, { exitCode, output, cacheRead, refused }: Ran): void {
  const { prints, cached } = plan as Extract<CodeBlock["plan"], { kind: "run" }>
  const holds = exitCode === 0 && refused.length === 0 && prints.every((pattern) => pattern.test(output))
  expect(
    holds && (!cached || cacheRead > 0),
    `${page}:${line} ended with ${exitCode}:\n${output}\n${refused.join("\n")}`,
  )
}

/** Links the packages that a program imports, which its user would install. */
function linkImports(user: User, ...sources: readonly string[]): void {
  const ours = new Set(user.packages.map(({ manifest }) => manifest.name))
  const wanted = new Set(sources.flatMap(importsOf).filter((name) => !name.startsWith(".") && !isBuiltin(name)))
  for (const name of new Set([...wanted].map(packageNameOf)))
    if (!ours.has(name) && existsSync(join(ROOT, "node_modules", name))) linkThirdParty(user.directory, name)
}

async function runOnStores(user: User): Promise<void> {
  const program = readFileSync(join(ROOT, ON_STORES), "utf8")
  linkImports(user, program)
  cpSync(join(ROOT, ON_STORES), join(user.directory, ON_STORES))
  const server = await startServer()
  try {
    for (const owner of [[], ["ada"]])
      for (const [kind, address] of [
        ["files", ""],
        ["memory", "memory:"],
        ["postgres", await server.database()],
      ] as const)
        node(user, [ON_STORES, kind, ...owner], {
          STRATA_PROJECT: "trial", // a shared store does not accept a path as project name
          STRATA_HOME: mkdtempSync(join(user.directory, "home-")),
          ...(address === "" ? {} : { STRATA_STORE: address }),
        })
  } finally {
    await server.stop()
  }
}

const LANGGRAPH = [
  ...["@langchain/core", "@langchain/langgraph-checkpoint", "@langchain/langgraph-checkpoint-validation"],
  ...["pg", "vitest"],
]

async function validateLanggraph(user: User): Promise<void> {
  for (const name of LANGGRAPH) linkThirdParty(user.directory, name)
  const results = await runLanggraphSuite(user.directory)
  for (const { store, passed, output } of results) expect(passed, `On ${store}:\n${output}`)
}

async function conformToMcp(user: User): Promise<void> {
  for (const { part, failures } of await runMcpSuite(user.directory))
    expect(failures.length === 0, `${part}:\n${failures.join("\n")}`)
}

/** Links the machine's own Node, if it is older than the one of the build. */
function useOlderNode(user: User): void {
  const older = ["/usr/local/bin/node", "/usr/bin/node"].find((path) => existsSync(path) && majorOf(path) < 24)
  if (older === undefined) {
    console.log("  left out: this machine has no older Node")
    return
  }
  const core = user.packages.find(({ folder }) => folder === "core") as PackedPackage
  const entries = Object.keys(core.manifest.exports ?? {}).filter((subpath) => subpath !== OWN_MANIFEST)
  for (const subpath of entries) {
    const { stderr } = spawnSync(older, ["--input-type=module", "-e", `import "@strata/core${subpath.slice(1)}"`], {
      cwd: user.directory,
      encoding: "utf8",
    })
    expect(
      /@strata\/core needs Node 24 or newer\. This is Node /.test(stderr),
      `@strata/core${subpath.slice(1)}: ${stderr}`,
    )
  }
}

const majorOf = (path: string): number =>
  Number.parseInt(spawnSync(path, ["-p", "process.versions.node"], { encoding: "utf8" }).stdout, 10)
