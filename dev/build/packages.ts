/**
 * The published packages in the order of their dependencies. All have the same version, and each requires exactly that version of the
 * others.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

export const ROOT = join(import.meta.dirname, "..", "..")
/** Folders in `packages/`, in the order of publication. */
const PUBLISHED = [
  ...[
    "core",
    "store-contract",
    "postgres",
    "transcripts",
    "plugins",
    "adapters",
    "sessions",
    "sync",
    "page",
    "sim",
    "cli",
  ],
] as const

/** Subpath of the manifest. Every package exports it, so that tools can read its version. */
export const OWN_MANIFEST = "./package.json"

/** The fields of a `package.json` that the build reads. All others pass through unchanged. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  /** Folders that are published unchanged, in addition to the compiled code. */
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly [field: string]: unknown
}

export interface SourcePackage {
  /** Name of the folder in `packages/` and in `build/`. */
  readonly folder: string
  readonly manifest: Manifest
}

export const readManifest = (file: string): Manifest => JSON.parse(readFileSync(file, "utf8")) as Manifest

export function publishedPackages(root = ROOT): readonly SourcePackage[] {
  return PUBLISHED.map((folder) => ({ folder, manifest: readManifest(join(root, "packages", folder, "package.json")) }))
}

/** Manifests of all packages of the workspace. The private package `dev` carries the version too. */
export function manifestFiles(root = ROOT): readonly string[] {
  return globSync("{packages/*,dev}/package.json", { cwd: root })
    .toSorted()
    .map((file) => join(root, file))
}

/** The source files that a user imports or runs: subpaths and commands. */
export function entriesOf({ exports = {}, bin = {} }: Pick<Manifest, "exports" | "bin">): readonly string[] {
  const all = new Set([...Object.values(exports), ...Object.values(bin)])
  return [...all].filter((entry) => entry !== OWN_MANIFEST)
}

/** Whether the package is a library. A program has commands as its only entries. */
export const isLibrary = ({ exports = {} }: Pick<Manifest, "exports">): boolean => entriesOf({ exports }).length > 0

/** One sentence for each package that has another version, or requires another version of a sibling. */
export function versionProblems(manifests: readonly Manifest[]): readonly string[] {
  const version = manifests[0]?.version
  const siblings = new Set(manifests.map(({ name }) => name))
  return manifests.flatMap((manifest) => [
    ...(manifest.version === version ? [] : [`${manifest.name} has version ${manifest.version}, not ${version}.`]),
    ...Object.entries({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies })
      .filter(([name, wanted]) => siblings.has(name) && wanted !== version)
      .map(([name, wanted]) => `${manifest.name} asks for ${name} ${wanted}, not ${version}.`),
  ])
}
