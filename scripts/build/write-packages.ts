/**
 * Writes each published package into `build/<folder>/`: its bundle, the declarations that users can reach, `package.json`, README and
 * LICENSE. Only what an entry reaches is in it, so tests and their support stay out.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isTestFile } from "../source-parts.ts"
import { DECLARATIONS } from "../structure/published-declarations.ts"
import { bundleLibrary, INSIDE } from "./bundle.ts"
import { bundleProgram, OUTSIDE } from "./bundle-program.ts"
import { importsOf, packageNameOf, withCompiledPaths, withOptionalTypes } from "./imports.ts"
import { compiled, publishedManifest } from "./manifest.ts"
import { entriesOf, isLibrary, type Manifest, OWN_MANIFEST, ROOT, type SourcePackage } from "./packages.ts"
import { reachedDeclarations } from "./reached-declarations.ts"

const BUILD = join(ROOT, "build")
const EXECUTABLE = 0o755

export interface BuiltPackage extends SourcePackage {
  readonly directory: string
}

export async function writePackages(packages: readonly SourcePackage[]): Promise<readonly BuiltPackage[]> {
  rmSync(BUILD, { recursive: true, force: true })
  const output = join(BUILD, "compiled")
  compile(packages, output)
  const built = packages.map((source) => assemble(withFolders(source, packages), output))
  rmSync(output, { recursive: true })
  removeUnreached(built)
  for (const one of built) await bundle(one)
  return built.map((one) => finish(one, built))
}

async function bundle(one: BuiltPackage): Promise<void> {
  const output = join(one.directory, "dist")
  if (isLibrary(one.manifest)) return bundleLibrary(one, output)
  for (const file of Object.values(one.manifest.bin ?? {}))
    await bundleProgram({ main: join(ROOT, "packages", one.folder, file), output })
}

/** Declarations of internal files name members that were left out of others, so they would not compile. */
function removeUnreached(built: readonly BuiltPackage[]): void {
  const withTypes = built.filter(({ manifest }) => isLibrary(manifest))
  const reached = reachedDeclarations(withTypes, (file) => readFileSync(file, "utf8"))
  for (const { directory } of built)
    for (const file of globSync("dist/**/*.d.ts", { cwd: directory }))
      if (!reached.has(join(directory, file))) rmSync(join(directory, file))
}

/** In one run: the compiler reads every file once, and packages see each other's sources. */
function compile(packages: readonly SourcePackage[], output: string): void {
  mkdirSync(BUILD, { recursive: true })
  const config = join(BUILD, "tsconfig.json")
  const files = packages.flatMap(({ folder, manifest }) =>
    entriesOf(manifest).map((file) => join(ROOT, "packages", folder, file)),
  )
  const compilerOptions = {
    ...DECLARATIONS,
    emitDeclarationOnly: true,
    noEmitOnError: true,
    rewriteRelativeImportExtensions: true,
    rootDir: join(ROOT, "packages"),
    outDir: output,
    paths: Object.fromEntries(packages.flatMap(sourcesBySpecifier)),
  }
  writeFileSync(config, JSON.stringify({ extends: "../tsconfig.json", compilerOptions, include: [], files }))
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc")
  const { status } = spawnSync(process.execPath, [compiler, "-p", config], { stdio: "inherit" })
  rmSync(config)
  if (status !== 0) throw new Error("The sources do not compile: nothing was built.")
}

/**
 * Where the compiler finds what one package imports from another. Without this it goes through `node_modules`, and it writes nothing for
 * files that it met there first: which ones those are differs from run to run.
 */
function sourcesBySpecifier({ folder, manifest }: SourcePackage): readonly (readonly [string, readonly string[]])[] {
  return Object.entries(manifest.exports ?? {})
    .filter(([subpath]) => subpath !== OWN_MANIFEST)
    .map(([subpath, file]) => [manifest.name + subpath.slice(1), [join(ROOT, "packages", folder, file)]])
}

/** What is inside a program finds its folders there. */
function withFolders({ folder, manifest }: SourcePackage, packages: readonly SourcePackage[]): SourceWithFolders {
  const inside = isLibrary(manifest)
    ? []
    : packages.filter(({ manifest: { name } }) => name in (manifest.dependencies ?? {}))
  const folders = [{ folder, manifest }, ...inside].flatMap((one) =>
    (one.manifest.files ?? []).map((path) => ({ path, from: join(ROOT, "packages", one.folder, path) })),
  )
  const files = folders.map(({ path }) => path)
  return { folder, folders, manifest: files.length === 0 ? manifest : { ...manifest, files } }
}

interface SourceWithFolders extends SourcePackage {
  readonly folders: readonly { readonly path: string; readonly from: string }[]
}

function assemble({ folder, manifest, folders }: SourceWithFolders, output: string): BuiltPackage {
  const source = join(ROOT, "packages", folder)
  const directory = join(BUILD, folder)
  mkdirSync(directory)
  renameSync(join(output, folder, "src"), join(directory, "dist"))
  for (const file of globSync("dist/**/*.d.ts", { cwd: directory })) finishDeclaration(join(directory, file), manifest)
  for (const { path, from } of folders)
    cpSync(from, join(directory, path), { recursive: true, filter: (file) => !isTestFile(file) })
  cpSync(join(source, "README.md"), join(directory, "README.md"))
  cpSync(join(ROOT, "LICENSE"), join(directory, "LICENSE"))
  return { folder, manifest, directory }
}

/** Writes what depends on the bundle. */
function finish(one: BuiltPackage, built: readonly BuiltPackage[]): BuiltPackage {
  const { directory } = one
  const manifest = { ...one.manifest, dependencies: dependenciesOf(one, built) }
  for (const command of Object.values(manifest.bin ?? {})) chmodSync(join(directory, compiled(command)), EXECUTABLE)
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`)
  return { ...one, manifest }
}

/**
 * Its own dependencies, and those of our packages inside its bundle. Of what can be inside, it needs what it still imports. A program has its
 * libraries inside.
 */
function dependenciesOf(one: BuiltPackage, built: readonly BuiltPackage[]): Record<string, string> {
  const { manifest, directory } = one
  const files = globSync("dist/**/*.{js,d.ts}", { cwd: directory })
  const imported = new Set(
    files.flatMap((file) => importsOf(readFileSync(join(directory, file), "utf8"))).map(packageNameOf),
  )
  const ours = new Set(built.map(({ manifest: { name } }) => name))
  const { dependencies = {}, peerDependencies = {} } = manifest
  const inside = built.flatMap((sibling) => (sibling.manifest.name in dependencies ? [sibling.manifest] : []))
  const theirs = Object.assign({}, ...inside.map((sibling) => sibling.dependencies)) as Record<string, string>
  if (!isLibrary(manifest))
    return sorted(Object.entries({ ...theirs, ...dependencies }).filter(([name]) => OUTSIDE.has(name)))
  return sorted([
    ...Object.entries(dependencies).filter(([name]) => !(ours.has(name) || INSIDE.has(name)) || imported.has(name)),
    ...Object.entries(theirs).filter(
      ([name]) => imported.has(name) && !(name in dependencies) && !(name in peerDependencies),
    ),
  ])
}

const sorted = (entries: readonly (readonly [string, string])[]): Record<string, string> =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))

function finishDeclaration(file: string, { peerDependenciesMeta = {} }: Manifest): void {
  const optional = Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name]?.optional)
  const declaration = withCompiledPaths(readFileSync(file, "utf8"))
  writeFileSync(file, withOptionalTypes(declaration, new Set(optional)))
}
