/** Tries the frameworks one after another, each installed once, with our packages from this checkout. */
import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { install, nameOf, versionOf } from "../install.ts"
import { type Adapted, adaptedTable, faultsOf } from "./adapted-table.ts"
import type { Framework } from "./framework.ts"
import { runCase } from "./run-case.ts"

const OURS = ["core", "adapters"]

export interface Adapting {
  readonly frameworks: readonly Framework[]
  /** Where they are installed and run. */
  readonly root: string
  /** Only cases whose name contains this. */
  readonly only?: string | undefined
}

/** Prints each row as it is known. Resolves with whether all are as they should be. */
export async function tryAdapted({ frameworks, root, only = "" }: Adapting): Promise<boolean> {
  const rows: Adapted[] = []
  let isGood = true
  for (const { name, packages, shown, flags = [], cases } of frameworks) {
    const installed = await install(join(root, "adapted", name.replaceAll(/\W+/g, "-")), packages, flags)
    if (typeof installed === "string") {
      console.error(`${name}: ${installed}`)
      isGood = false
      continue
    }
    const { directory } = installed
    linkOurs(directory)
    const versions = shown.map((each) => `${each} ${versionOf(directory, nameOf(each))}`).join(", ")
    for (const each of cases.filter(({ what }) => what.includes(only))) {
      console.error(`${name} (${versions}): ${each.what}`)
      const running = { case: each, installed: directory, directory: join(root, "adapted", "run") }
      const direct = await runCase({ ...running, way: "direct" })
      const strata = await runCase({ ...running, way: "strata" })
      const row = { framework: name, versions, ...each, direct, strata }
      rows.push(row)
      isGood &&= faultsOf(row).length === 0
      console.error(adaptedTable([row]))
    }
  }
  console.log(adaptedTable(rows))
  return isGood
}

function linkOurs(directory: string): void {
  const scope = join(directory, "node_modules", "@strata")
  mkdirSync(scope, { recursive: true })
  for (const name of OURS) {
    const target = fileURLToPath(new URL(`../../../../${name}`, import.meta.url))
    if (!existsSync(join(scope, name))) symlinkSync(target, join(scope, name))
  }
}
