/**
 * The packages that are published, as they stand in the workspace, in the order in which they need each other. All have one version, and
 * each asks for exactly that version of the others.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

export const ROOT = join(import.meta.dirname, "..", "..")
/** Folders below `packages/`. The lab is not among them: it measures, and nobody installs it. */
const PUBLISHED = ["core", "sim", "cli"] as const

/** What we read of a `package.json`; everything else passes through untouched. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly [field: string]: unknown
}

export interface SourcePackage {
  /** Its name below `packages/` and below `build/`. */
  readonly folder: string
  readonly manifest: Manifest
}

export const readManifest = (file: string): Manifest => JSON.parse(readFileSync(file, "utf8")) as Manifest

export function publishedPackages(root = ROOT): readonly SourcePackage[] {
  return PUBLISHED.map((folder) => ({ folder, manifest: readManifest(join(root, "packages", folder, "package.json")) }))
}

/** All of the workspace, the private ones too: they carry the version as well. */
export function manifestFiles(root = ROOT): readonly string[] {
  return globSync("packages/*/package.json", { cwd: root })
    .toSorted()
    .map((file) => join(root, file))
}

/** What a user can enter by: the subpaths and the commands, as source files of the package. */
export function entriesOf({ exports = {}, bin = {} }: Manifest): readonly string[] {
  return [...new Set([...Object.values(exports), ...Object.values(bin)])]
}

/** Where one of them has another version, or asks for another version of a sibling: a sentence for each. */
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
