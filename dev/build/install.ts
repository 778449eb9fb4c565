/**
 * Installs the built packages as a user would: npm packs them, and they are unpacked into the `node_modules` of a directory outside the
 * repository. Third-party packages are links into the workspace's `node_modules`. Only packages that the manifests name are linked, so that
 * using any other fails. Nothing is downloaded.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { compiled } from "./manifest.ts"
import { type Manifest, ROOT } from "./packages.ts"
import { runToEnd } from "./run-to-end.ts"
import type { BuiltPackage } from "./write-packages.ts"

/** Packages that a user of TypeScript also has. The newest types of Node are the most likely to break Strata's. */
const FOR_TYPES = { "@types/node": "types-node-newest" }

export interface PackedPackage extends BuiltPackage {
  readonly tarball: string
  /** Size of the tarball in bytes. */
  readonly size: number
  /** Total size of the files in bytes. */
  readonly unpackedSize: number
  /** Paths of the files in the tarball. */
  readonly paths: readonly string[]
}

interface PackReport {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
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
    if (!report) throw new Error(`npm pack does not report ${built.manifest.name}.`)
    const tarball = join(destination, report.filename)
    const { size, unpackedSize } = report
    return { ...built, tarball, size, unpackedSize, paths: report.files.map(({ path }) => path) }
  })
}

/** npm up to version 11 reports a list, from 12 on an object by name. */
const reportsFrom = (reported: unknown): readonly PackReport[] => Object.values(reported as Record<string, PackReport>)

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
  const needed = packages.flatMap(({ manifest }) => [
    ...Object.keys(manifest.dependencies ?? {}),
    ...requiredPeers(manifest),
  ])
  for (const name of new Set(needed)) if (!own.has(name)) linkThirdParty(user, name)
  for (const [name, ours] of Object.entries(FOR_TYPES)) linkThirdParty(user, name, ours)
}

/** Peer dependencies that npm installs with the package. */
function requiredPeers({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): readonly string[] {
  return Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)
}

/** Makes `name` available to the user, replacing an earlier link. `ours` is its name in the workspace's `node_modules`. */
export function linkThirdParty(user: string, name: string, ours = name): void {
  const path = join(user, "node_modules", name)
  rmSync(path, { force: true })
  link(path, realpathSync(join(ROOT, "node_modules", ours)))
}

function link(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(relative(dirname(path), target), path)
}

export function packedFiles({ manifest, paths }: PackedPackage, user: string): ReadonlyMap<string, string> {
  const directory = join(user, "node_modules", manifest.name)
  return new Map(paths.map((path) => [path, readFileSync(join(directory, path), "utf8")]))
}
