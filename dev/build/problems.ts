/**
 * Finds problems in a package's files without running them: an import that leaves the package or names a package it does not depend on, a
 * file read from next to the code, a path of the workspace or of this machine, a file for development, a declaration marked `@internal`. Returns one sentence for each.
 */
import { isBuiltin } from "node:module"
import { posix } from "node:path"
import { importsOf, packageNameOf, withoutComments } from "./imports.ts"
import { type Manifest, OWN_MANIFEST } from "./packages.ts"

/** The files of a package: path and text. */
export type PackedFiles = ReadonlyMap<string, string>

export interface PackageContext {
  /** Directories of this machine. Those directly under the root, such as `/app`, are ignored, because examples may name them. */
  readonly machinePaths: readonly string[]
}

const CODE = /\.(?:js|d\.ts)$/
/** Matches files for development. A folder listed in `files` may contain TypeScript, which another program loads. */
const TEST_FILE = /(?:\.test\.|\/test\/|^(?:dist|src)\/.*(?<!\.d)\.tsx?$)/
const WORKSPACE_PATH = /packages\/[\w-]+\/(?:src|test)\b|\bdev\/(?:bench|build|checks|docs|lab|tests)\//
/**
 * Matches reads next to the code. A bundle has no file next to it, only `package.json` and the folders of `files` one level up, which
 * nobody bundles.
 */
const READS_NEIGHBOUR = /new URL\("([^"]*)", ?import\.meta\.url\)|createRequire\(/g
const INTERNAL = /\/\*\*(?:(?!\*\/)[\s\S])*@internal\b/
const EVERY_PACKAGE_HAS = ["package.json", "README.md", "LICENSE"]

export function problemsIn(files: PackedFiles, { machinePaths }: PackageContext): readonly string[] {
  const missing = EVERY_PACKAGE_HAS.filter((file) => !files.has(file)).map((file) => `${file} is missing.`)
  if (missing.length > 0) return missing
  const manifest = JSON.parse(files.get("package.json")!) as Manifest
  return [...files].flatMap(([file, text]) => [
    ...(TEST_FILE.test(file) ? [`${file} belongs to development.`] : []),
    ...namedIn(text, machinePaths).map((path) => `${file} names ${path}.`),
    ...(CODE.test(file) ? problemsInCode({ file, text, files, manifest }) : []),
    ...(file.endsWith(".md") ? brokenLinks({ file, text, files }) : []),
  ])
}

function namedIn(text: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => path.split(/[\\/]/).filter(Boolean).length > 1 && text.includes(path))
}

interface FileContext {
  readonly file: string
  readonly text: string
  readonly files: PackedFiles
}

function problemsInCode({ file, text, files, manifest }: FileContext & { manifest: Manifest }): readonly string[] {
  const named = { ...manifest.dependencies, ...manifest.peerDependencies }
  const known = new Set([manifest.name, ...Object.keys(named)])
  const workspacePath = WORKSPACE_PATH.exec(withoutComments(text))?.[0]
  const packed = ["package.json", ...(manifest.files ?? []).filter((folder) => folder !== "dist")].map(
    (path) => `../${path}`,
  )
  const readsNeighbour = isProgram(manifest)
    ? undefined
    : [...withoutComments(text).matchAll(READS_NEIGHBOUR)].find(([, path]) => !packed.includes(path!))?.[0]
  return [
    ...(readsNeighbour === undefined ? [] : [`${file} cannot be bundled: ${readsNeighbour}.`]),
    ...(INTERNAL.test(text) && file.endsWith(".d.ts") ? [`${file} declares what is internal.`] : []),
    ...(workspacePath === undefined ? [] : [`${file} names a path of the workspace: ${workspacePath}.`]),
    ...importsOf(text).flatMap((specifier) => {
      if (specifier.startsWith(".")) {
        const path = posix.join(posix.dirname(file), specifier)
        const target = file.endsWith(".d.ts") ? path.replace(/\.js$/, ".d.ts") : path
        return files.has(target) ? [] : [`${file} imports ${specifier}, which is not in the package.`]
      }
      if (isBuiltin(specifier) || known.has(packageNameOf(specifier))) return []
      return [`${file} imports ${specifier}, which the package does not depend on.`]
    }),
  ]
}

const isProgram = ({ bin, exports = {} }: Manifest): boolean =>
  bin !== undefined && Object.keys(exports).every((subpath) => subpath === OWN_MANIFEST)

/** Finds links that do not work in the README inside the package. They must stay in the package or lead to the web. */
function brokenLinks({ file, text, files }: FileContext): readonly string[] {
  return [...text.matchAll(/\]\((?!\w+:|#)([^)#]+)[^)]*\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !files.has(posix.join(posix.dirname(file), target)))
    .map((target) => `${file} links to ${target}, which is not in the package.`)
}
