/** Writes the declarations of published entries and the files they reach, without checking types, which the type check does. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const ROOT = join(import.meta.dirname, "..", "..", "..")
const MODULES = join(ROOT, "node_modules")

/** Compiler options that leave out members marked `@internal`. The build uses them too. */
export const DECLARATIONS = { noEmit: false, declaration: true, stripInternal: true }

/**
 * `use` gets the directory with the declarations of `entries`, paths from the root of the repository. The declarations are removed
 * afterwards.
 */
export function withDeclarations<T>(entries: readonly string[], use: (directory: string) => T): T {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "strata-declarations-")))
  try {
    const output = { rootDir: ROOT, outDir: directory, typeRoots: [join(MODULES, "@types")] }
    const compilerOptions = { ...DECLARATIONS, ...output, emitDeclarationOnly: true, noCheck: true }
    const config = join(directory, "tsconfig.json")
    const files = entries.map((entry) => join(ROOT, entry))
    writeFileSync(config, JSON.stringify({ extends: join(ROOT, "tsconfig.json"), compilerOptions, include: [], files }))
    const compiler = join(MODULES, "typescript", "bin", "tsc")
    const { status } = spawnSync(process.execPath, [compiler, "-p", config], { stdio: "inherit" })
    if (status !== 0) throw new Error(`The compiler cannot write the declarations of ${entries[0]}.`)
    return use(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
