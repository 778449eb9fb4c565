/** Tries the cases one after another, with each client installed once. */
import { join } from "node:path"
import { install } from "../install.ts"
import type { Case } from "./case.ts"
import { type Compared, compare, faultsOf } from "./compare.ts"
import { comparedTable } from "./compared-table.ts"

export interface Proxied {
  readonly cases: readonly Case[]
  /** Where clients are installed and run. */
  readonly root: string
  readonly observes: boolean
}

/** Prints the table as far as it is after each case. Resolves with whether all are as they should be. */
export async function tryProxied({ cases, root, observes }: Proxied): Promise<boolean> {
  const rows: Compared[] = []
  let isGood = true
  for (const each of cases) {
    const { client, packages, otherwise, what } = each
    const newest = await install(root, packages)
    const installed = typeof newest === "string" && otherwise ? await install(root, otherwise) : newest
    if (typeof installed === "string") {
      console.error(`${client}: ${installed}`)
      isGood = false
      continue
    }
    const { directory, version } = installed
    console.error(`${client} ${version}: ${what}`)
    const row = await compare(
      { case: each, installed: directory, version, directory: join(root, "proxied") },
      { observes },
    )
    rows.push(row)
    isGood &&= faultsOf(row).length === 0
    console.error(comparedTable([row]))
  }
  console.log(comparedTable(rows))
  return isGood
}
