/**
 * The demo as in an installed package: it works on the current directory, which always has the same files here. In Strata's own checkout it
 * would work on the checkout, and the results would change with every commit.
 */
import { cpSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { emptyPlace, MAIN } from "./strata-process.ts"

const FILES = 120 // files that the demo works on

export interface InstalledDemo {
  readonly command: readonly string[]
  /** The directory to run it in. */
  readonly project: string
  remove(): void
}

export function installDemo(): InstalledDemo {
  const elsewhere = emptyPlace()
  const [installed, project] = [join(elsewhere.cwd, "installed"), join(elsewhere.cwd, "project")]
  const program = join(installed, "packages", "cli")
  const cli = join(MAIN, "..", "..")
  for (const part of ["dist", "package.json"]) cpSync(join(cli, part), join(program, part), { recursive: true })
  symlinkSync(join(import.meta.dirname, "../../../node_modules"), join(installed, "node_modules"))
  for (let n = 0; n < FILES; n++) {
    const directory = join(project, "packages", `part-${n % 7}`, "src")
    mkdirSync(directory, { recursive: true })
    const lines = Array.from(
      { length: 40 + ((n * 53) % 300) },
      (_, line) => `export const value${line} = compute(${(n * 31 + line * 17) % 997}, "module ${n}") // line ${line}`,
    )
    const path = join(directory, `module-${n}.ts`)
    writeFileSync(path, `${lines.join("\n")}\n`)
    utimesSync(path, 1_000 + n, 1_000 + n) // searches list newer files first
  }
  const command = [process.execPath, join(program, "dist", "main.js"), "demo"]
  return { command, project, remove: elsewhere.remove }
}
