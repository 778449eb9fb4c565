/** Finds the declarations that a user's program can reach: those of public entries and their imports, including Strata's other packages. */
import { dirname, join } from "node:path"
import { importsOf, packageNameOf } from "./imports.ts"
import { compiled } from "./manifest.ts"
import { type Manifest, OWN_MANIFEST } from "./packages.ts"

interface Package {
  readonly manifest: Pick<Manifest, "name" | "exports">
  readonly directory: string
}

/** Returns paths of files. `read` returns the text of a file. */
export function reachedDeclarations(packages: readonly Package[], read: (file: string) => string): ReadonlySet<string> {
  const reached = new Set(
    packages.flatMap(({ manifest: { exports = {} }, directory }) =>
      Object.keys(exports)
        .filter((subpath) => exports[subpath] !== OWN_MANIFEST)
        .map((subpath) => declarationOf(directory, exports[subpath]!)),
    ),
  )
  for (const file of reached)
    for (const specifier of importsOf(read(file))) {
      const target = specifier.startsWith(".")
        ? join(dirname(file), specifier).replace(/\.js$/, ".d.ts")
        : inOurPackages(packages, specifier)
      if (target !== undefined) reached.add(target)
    }
  return reached
}

const declarationOf = (directory: string, source: string) => join(directory, compiled(source).replace(/\.js$/, ".d.ts"))

function inOurPackages(packages: readonly Package[], specifier: string): string | undefined {
  const found = packages.find(({ manifest }) => manifest.name === packageNameOf(specifier))
  if (!found) return undefined
  const { exports = {}, name } = found.manifest
  const wanted = `.${specifier.slice(name.length)}`
  const source = exports[wanted]
  if (source === undefined) throw new Error(`${specifier} is not exported.`)
  return declarationOf(found.directory, source)
}
