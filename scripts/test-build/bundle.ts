/**
 * Bundles the packages for the processes that tests start, as they are published, without declarations. Node then loads a few files instead
 * of seven hundred, which is most of what a start costs. Libraries of others are resolved as usual. `cli/dist/several-commands.js` is for
 * tests: see its source.
 * Bundles the packages for the processes that tests start. Node then loads a few files instead of seven hundred, which is most of what a
 * start costs.
 *
 * - `cli/dist/main.js` and its parts: the program as it is published; `sim.js`: the simulator's command; `several-commands.js` and `wrapped-program.js`: see their sources
 * - `core/`, `replay/`, `adapters/`, `sim/`: the packages as a user imports them; libraries are resolved as usual, since a user shares some of them with us
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { publishedPackages } from "../build/packages.ts"
import { bundle, copyFolders, finish, linkEachOther } from "../build/write-packages.ts"
import { type BuildOptions, build } from "esbuild"
import { librariesStayOutside, ownSources } from "../build/bundle.ts"
import { bundleProgram } from "../build/bundle-program.ts"

/** Left to Node: it finds its program by its own path, or it is an optional library that the program does not come with. */
const NOT_BUNDLED = ["@vscode/ripgrep", "ai", "@valibot/to-json-schema", "react-devtools-core"]

const ADAPTERS = ["ai-sdk", "anthropic", "claude-agent-sdk", "langchain", "langgraph", "mastra", "openai-agents"]

/** A bundled CommonJS library still requires the modules of Node. */
const REQUIRE = `import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);`

export async function bundlePackages(root: string, output: string): Promise<void> {
  const packages = publishedPackages(root).map((source) => ({ ...source, directory: join(output, source.folder) }))
  const severalCommands = join(root, "packages", "cli", "test", "several-commands.ts")
  for (const one of packages) {
    mkdirSync(one.directory, { recursive: true })
    copyFolders(one)
  }
  await Promise.all(packages.map((one) => bundle(one, { "several-commands": severalCommands })))
  for (const one of packages) finish(one)
  linkEachOther(packages, output)
  await Promise.all([
    bundleProgram({ main: source("cli/src/main.ts"), output: join(output, "cli", "dist") }),
    build({
      ...shared,
      entryPoints: {
        sim: source("sim/src/main.ts"),
        "several-commands": source("cli/test/several-commands.ts"),
      },
      outdir: join(output, "cli", "dist"),
      external: NOT_BUNDLED,
      alias: { yaml: join(root, "node_modules/yaml/browser/index.js") }, // its ES modules: for Node it names CommonJS ones
      banner: { js: REQUIRE },
    }),
    build({
      ...shared,
      splitting: false,
      entryPoints: { "wrapped-program": source("cli/test/wrapped-program.mjs") },
      outdir: join(output, "cli", "dist"),
      banner: { js: REQUIRE },
    }),
    build({
      ...shared,
      entryPoints: {
        "core/index": source("core/src/index.ts"),
        "core/store-contract": source("core/src/store-contract/index.ts"),
        "replay/index": source("replay/src/index.ts"),
        ...Object.fromEntries(ADAPTERS.map((name) => [`adapters/${name}`, source(`adapters/src/${name}.ts`)])),
        "sim/index": source("sim/src/index.ts"),
      },
      outdir: output,
      chunkNames: "chunks/[name]-[hash]",
      plugins: [ownSources, librariesStayOutside],
    }),
  ])
  cpSync(source("cli/package.json"), join(output, "cli", "package.json")) // has the version
  describePackage(join(output, "core"), { ".": "./index.js", "./store-contract": "./store-contract.js" })
  describePackage(join(output, "replay"), { ".": "./index.js" })
  describePackage(join(output, "adapters"), Object.fromEntries(ADAPTERS.map((name) => [`./${name}`, `./${name}.js`])))
  describePackage(join(output, "sim"), { ".": "./index.js" })
}

function describePackage(directory: string, exports: Readonly<Record<string, string>>): void {
  writeFileSync(join(directory, "package.json"), JSON.stringify({ type: "module", exports }))
}
