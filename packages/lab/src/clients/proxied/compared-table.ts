/** The table of the clients that were tried through the proxy. */
import { inColumns } from "../columns.ts"
import { areEqual, type Compared, faultsOf } from "./compare.ts"

const HEADINGS = ["client", "version", "case", "requests", "refused", "answers", "direct", "proxy", "observe"]
const MORE = ["client compacts", "ours", "conversations", "result"]

/** Where a cell has two figures, the first is direct, the second through the proxy. */
export function comparedTable(rows: readonly Compared[]): string {
  return inColumns([...HEADINGS, ...MORE], rows.map(cellsOf)).join("\n")
}

function cellsOf(row: Compared): readonly string[] {
  const { client, version, what, direct, proxy, observe } = row
  const share = (dollars: number) => (dollars / direct.dollars).toFixed(2)
  const faults = faultsOf(row)
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
