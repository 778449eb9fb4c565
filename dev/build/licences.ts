/** Collects the licences of the libraries inside a bundle, which must accompany their code. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { packageNameOf } from "./imports.ts"
import { ROOT } from "./packages.ts"

const INSTALLED = /^(.*node_modules\/)([^:]+)$/

/** Joins the licences, sorted by package name. `inputs` are paths of the bundled files from the root of the workspace. */
export function licencesOf(inputs: readonly string[]): string {
  const directories = inputs.flatMap((input) => {
    const [, place, path] = INSTALLED.exec(input) ?? []
    return path === undefined ? [] : [place + packageNameOf(path)]
  })
  return [...new Set(directories)].toSorted().map(licenceOf).join("\n")
}

function licenceOf(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, directory, "package.json"), "utf8")) as Record<
    string,
    string
  >
  const [file] = globSync("{LICENSE,LICENCE,license,licence,License}*", { cwd: join(ROOT, directory) })
  if (license === undefined) throw new Error(`${directory} names no licence, so it cannot be inside a bundle.`)
  const text = file === undefined ? "" : `\n${readFileSync(join(ROOT, directory, file), "utf8").trim()}\n`
  return `${name} ${version}: ${license}\n${text}`
}
