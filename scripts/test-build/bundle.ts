/**
 * Bundles the packages for the processes that tests start. Node then loads a few files instead of seven hundred, which is most of what a
 * start costs.
 *
 * - `cli/dist/main.js` and its parts: the program as it is published; `sim.js`: the simulator's command; `several-commands.js`: see its source
 * - `core/`, `replay/`, `sim/`: the packages as a user imports them; libraries are resolved as usual, since a user shares some of them with us
 */
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type BuildOptions, build } from "esbuild"
import { librariesStayOutside, ownSources } from "../build/bundle.ts"
import { bundleProgram } from "../build/bundle-program.ts"

/** Left to Node: it finds its program by its own path, or it is an optional library that the program does not come with. */
const NOT_BUNDLED = ["@vscode/ripgrep", "ai", "@valibot/to-json-schema", "react-devtools-core"]

/** A bundled CommonJS library still requires the modules of Node. */
const REQUIRE = `import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);`

export async function bundlePackages(root: string, output: string): Promise<void> {
  const source = (file: string) => join(root, "packages", file)
  const shared: BuildOptions = {
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    jsx: "automatic",
    logLevel: "error",
    plugins: [ownSources],
  }
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
      entryPoints: {
        "core/index": source("core/src/index.ts"),
        "core/store-contract": source("core/src/store-contract/index.ts"),
        "replay/index": source("replay/src/index.ts"),
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
  describePackage(join(output, "sim"), { ".": "./index.js" })
}

function describePackage(directory: string, exports: Readonly<Record<string, string>>): void {
  writeFileSync(join(directory, "package.json"), JSON.stringify({ type: "module", exports }))
}
