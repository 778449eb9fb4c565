/**
 * Bundles the packages for the processes that tests start, as they are published, without declarations. Node then loads a few files instead
 * of seven hundred, which is most of what a start costs. Libraries of others are resolved as usual. `cli/dist/several-commands.js` is for
 * tests: see its source.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
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
  for (const one of packages) finish(one)
  linkEachOther(packages, output)
}
