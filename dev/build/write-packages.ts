/**
 * Writes each published package into `build/<folder>/`: its bundle, the declarations that users can reach, `package.json`, README and
 * LICENSE. Only code that an entry reaches is included, so tests and their support are not.
 */
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join, relative } from "node:path"
import { isTestFile } from "../checks/source-parts.ts"
import { DECLARATIONS } from "../checks/structure/published-declarations.ts"
import { bundleLibrary, INSIDE } from "./bundle.ts"
import { bundleProgram, type ProgramBundle } from "./bundle-program.ts"
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
  const built = packages.map((source) => assemble(source, output))
  rmSync(output, { recursive: true })
  removeUnreached(built)
  for (const one of built) await bundle(one)
  const finished = built.map(finish)
  linkEachOther(finished, BUILD)
  return finished
}

/** Links the packages to each other, so that they work in place without an installation. */
export function linkEachOther(packages: readonly SourcePackage[], directory: string): void {
  for (const { folder, manifest } of packages) {
    const link = join(directory, "node_modules", manifest.name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(relative(dirname(link), join(directory, folder)), link)
  }
}

/** Writes the code of a package in the form that Node runs. */
export async function bundle(
  { folder, manifest, directory }: BuiltPackage,
  more?: ProgramBundle["more"],
): Promise<void> {
  const output = join(directory, "dist")
  if (isLibrary(manifest)) return bundleLibrary({ folder, manifest }, output)
  for (const file of Object.values(manifest.bin ?? {}))
    await bundleProgram({ main: join(ROOT, "packages", folder, file), output, ...(more ? { more } : {}) })
}

/** Removes declarations that no entry reaches. Some name members that were removed elsewhere, so they would not compile. */
function removeUnreached(built: readonly BuiltPackage[]): void {
  const withTypes = built.filter(({ manifest }) => isLibrary(manifest))
  const reached = reachedDeclarations(withTypes, (file) => readFileSync(file, "utf8"))
  for (const { directory } of built)
    for (const file of globSync("dist/**/*.d.ts", { cwd: directory }))
      if (!reached.has(join(directory, file))) rmSync(join(directory, file))
}

/** Compiles all packages in one run: the compiler reads every file once, and packages see each other's sources. */
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
 * Maps imports between packages to sources. Without this map the compiler resolves them through `node_modules` and writes nothing for files
 * that it first finds there, which differ from run to run.
 */
function sourcesBySpecifier({ folder, manifest }: SourcePackage): readonly (readonly [string, readonly string[]])[] {
  return Object.entries(manifest.exports ?? {})
    .filter(([subpath]) => subpath !== OWN_MANIFEST)
    .map(([subpath, file]) => [manifest.name + subpath.slice(1), [join(ROOT, "packages", folder, file)]])
}

function assemble({ folder, manifest }: SourcePackage, output: string): BuiltPackage {
  const source = join(ROOT, "packages", folder)
  const directory = join(BUILD, folder)
  mkdirSync(directory)
  renameSync(join(output, folder, "src"), join(directory, "dist"))
  for (const file of globSync("dist/**/*.d.ts", { cwd: directory })) finishDeclaration(join(directory, file), manifest)
  copyFolders({ folder, manifest, directory })
  cpSync(join(source, "README.md"), join(directory, "README.md"))
  cpSync(join(ROOT, "LICENSE"), join(directory, "LICENSE"))
  return { folder, manifest, directory }
}

/** Copies the folders that a package has in addition to its code: plugins that other programs load. */
export function copyFolders({ folder, manifest, directory }: BuiltPackage): void {
  for (const path of manifest.files ?? [])
    cpSync(join(ROOT, "packages", folder, path), join(directory, path), {
      recursive: true,
      filter: (file) => !isTestFile(file),
    })
}

/** Writes the files that depend on the bundle. */
export function finish(one: BuiltPackage): BuiltPackage {
  const { directory } = one
  const manifest = { ...one.manifest, dependencies: dependenciesOf(one) }
  for (const command of Object.values(manifest.bin ?? {})) chmodSync(join(directory, compiled(command)), EXECUTABLE)
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`)
  return { ...one, manifest }
}

/** Dependencies without those that are inside the bundle and that no declaration names. */
function dependenciesOf({ manifest, directory }: BuiltPackage): Record<string, string> {
  const files = globSync("dist/**/*.{js,d.ts}", { cwd: directory })
  const imported = new Set(
    files.flatMap((file) => importsOf(readFileSync(join(directory, file), "utf8"))).map(packageNameOf),
  )
  const entries = Object.entries(manifest.dependencies ?? {})
  return Object.fromEntries(entries.filter(([name]) => !INSIDE.has(name) || imported.has(name)))
}

function finishDeclaration(file: string, { peerDependenciesMeta = {} }: Manifest): void {
  const optional = Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name]?.optional)
  const declaration = withCompiledPaths(readFileSync(file, "utf8"))
  writeFileSync(file, withOptionalTypes(declaration, new Set(optional)))
}
