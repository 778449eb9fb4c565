/**
 * Bundles the packages for the processes that tests start, as they are published, without declarations. Node then loads a few files instead
 * of seven hundred, which is most of the cost of a start. Third-party libraries are resolved as usual. `several-commands.js` and
 * `wrapped-program.js` in `cli/dist` are for tests: see their sources.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"
import { publishedPackages } from "../build/packages.ts"
import { bundle, copyFolders, finish, linkEachOther } from "../build/write-packages.ts"

export async function bundlePackages(root: string, output: string): Promise<void> {
  const packages = publishedPackages(root).map((source) => ({ ...source, directory: join(output, source.folder) }))
  const severalCommands = join(root, "packages", "cli", "test", "several-commands.ts")
  for (const one of packages) {
    mkdirSync(one.directory, { recursive: true })
    copyFolders(one)
  }
  await Promise.all(packages.map((one) => bundle(one, { "several-commands": severalCommands })))
  await bundleWrapped(join(root, "packages", "cli", "test", "wrapped-program.mjs"), join(output, "cli", "dist"))
  for (const one of packages) finish(one)
  linkEachOther(packages, output)
}

/** Defines `require`, because a CommonJS library in the bundle still requires the modules of Node. */
const REQUIRE = `import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);`

/** Bundles a user's program with the official SDK inside, because `strata wrap` starts it often. */
async function bundleWrapped(program: string, outdir: string): Promise<void> {
  await build({
    entryPoints: { "wrapped-program": program },
    outdir,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    logLevel: "error",
    banner: { js: REQUIRE },
  })
}
