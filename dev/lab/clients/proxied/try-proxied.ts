/** Tries the cases one after another. Each client is installed once. */

import { join } from "node:path"
import { inColumns } from "../columns.ts"
import { install } from "../install.ts"
import type { Case } from "./case.ts"
import { areEqual, type ComparedRuns, compare, proxiedDefects } from "./compare.ts"

// Table of the clients that were tried through the proxy.

const HEADINGS = ["client", "version", "case", "requests", "refused", "answers", "direct", "proxy", "observe"]
const MORE = ["client compacts", "ours", "conversations", "result"]

/** In cells with two values, the first is direct, the second through the proxy. */
export function comparedTable(rows: readonly ComparedRuns[]): string {
  return inColumns([...HEADINGS, ...MORE], rows.map(cellsOf)).join("\n")
}

function cellsOf(row: ComparedRuns): readonly string[] {
  const { client, version, what, direct, proxy, observe } = row
  const share = (dollars: number) => (dollars / direct.dollars).toFixed(2)
  const faults = proxiedDefects(row)
  return [
    ...[client, version, what, `${direct.requests}/${proxy.requests}`],
    `${direct.refused.length}/${proxy.refused.length}`,
    areEqual(direct.answers, proxy.answers) ? `${direct.answers.length} equal` : "differ",
    ...[`$${direct.dollars.toFixed(2)}`, share(proxy.dollars), observe ? share(observe.dollars) : ""],
    ...[`${direct.compactions.client}/${proxy.compactions.client}`, `${proxy.compactions.ours}`],
    `${proxy.conversations}`,
    faults.length === 0 ? "works" : faults.join("; ").slice(0, 300),
  ]
}

export interface ProxiedResult {
  readonly cases: readonly Case[]
  /** Directory in which clients are installed and run. */
  readonly root: string
  readonly observes: boolean
}

/** Prints the table so far after each case. Resolves with whether no run has a defect. */
export async function tryProxied({ cases, root, observes }: ProxiedResult): Promise<boolean> {
  const rows: ComparedRuns[] = []
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
    isGood &&= proxiedDefects(row).length === 0
    console.error(comparedTable([row]))
  }
  console.log(comparedTable(rows))
  return isGood
}
