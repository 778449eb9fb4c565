/**
 * Puts the built packages where a user would have them: packed by npm, unpacked into the `node_modules` of a directory of its own, outside
 * of the repository. Third-party packages are links into our `node_modules`, and only those that the packages name: what is used and
 * not named is not found. Nothing is downloaded.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { compiled } from "./manifest.ts"
import { ROOT } from "./packages.ts"
import { runToEnd } from "./run-to-end.ts"
import type { BuiltPackage } from "./write-packages.ts"

/** What a user who writes TypeScript has besides. */
const FOR_TYPES = ["@types/node"]

export interface PackedPackage extends BuiltPackage {
  readonly tarball: string
  /** What npm put into it. */
  readonly paths: readonly string[]
}

interface PackReport {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

export function pack(packages: readonly BuiltPackage[], destination: string): readonly PackedPackage[] {
  const directories = packages.map(({ directory }) => directory)
  const npm = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination, ...directories]
  const { status, stdout, stderr } = spawnSync("npm", npm, { encoding: "utf8", cwd: destination })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  const reports = reportsFrom(JSON.parse(stdout))
  return packages.map((built) => {
    const report = reports.find(({ name }) => name === built.manifest.name)
    if (!report) throw new Error(`npm pack says nothing of ${built.manifest.name}.`)
    const tarball = join(destination, report.filename)
    return { ...built, tarball, paths: report.files.map(({ path }) => path) }
  })
}

/** A list up to npm 11, an object by name from npm 12 on. */
const reportsFrom = (told: unknown): readonly PackReport[] => Object.values(told as Record<string, PackReport>)

export function install(packages: readonly PackedPackage[], user: string): void {
  const modules = join(user, "node_modules")
  const own = new Set(packages.map(({ manifest }) => manifest.name))
  for (const { manifest, tarball } of packages) {
    const directory = join(modules, manifest.name)
    mkdirSync(directory, { recursive: true })
    runToEnd("tar", ["-xzf", tarball, "--strip-components=1", "-C", directory])
    for (const [command, source] of Object.entries(manifest.bin ?? {})) {
      link(join(modules, ".bin", command), join(directory, compiled(source)))
    }
  }
  const thirdParty = packages.flatMap(({ manifest }) => Object.keys(manifest.dependencies ?? {}))
  for (const name of new Set([...thirdParty, ...FOR_TYPES])) {
    if (!own.has(name)) link(join(modules, name), realpathSync(join(ROOT, "node_modules", name)))
  }
}

function link(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(relative(dirname(path), target), path)
}

export function packedFiles({ manifest, paths }: PackedPackage, user: string): ReadonlyMap<string, string> {
  const directory = join(user, "node_modules", manifest.name)
  return new Map(paths.map((path) => [path, readFileSync(join(directory, path), "utf8")]))
}
