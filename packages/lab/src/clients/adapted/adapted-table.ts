/** One row for each program: without Strata and with it. */
import { inColumns } from "../columns.ts"
import type { Outcome } from "./run-case.ts"

export interface Adapted {
  readonly framework: string
  readonly versions: string
  readonly what: string
  readonly compactions: number
  readonly goal?: number | undefined
  readonly direct: Outcome
  readonly strata: Outcome
}

/** What is not as it should be. */
export function faultsOf({ direct, strata, compactions, goal }: Adapted): readonly string[] {
  const ratio = strata.dollars / direct.dollars
  return [
    ...direct.faults,
    ...strata.faults,
    ...(direct.answers.length === 0 ? ["no answer without Strata"] : []),
    ...(areEqual(direct.answers, strata.answers) ? [] : [difference(direct.answers, strata.answers)]),
    ...(strata.refused.length > direct.refused.length ? [`refused: ${strata.refused[0]}`] : []),
    ...(strata.compactions < compactions ? [`${strata.compactions} compactions, not ${compactions}`] : []),
    ...(goal !== undefined && ratio > goal ? [`costs ${ratio.toFixed(2)}, more than ${goal}`] : []),
  ]
}

const areEqual = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((answer, at) => answer === other[at])

function difference(direct: readonly string[], strata: readonly string[]): string {
  const at = direct.findIndex((answer, place) => answer !== strata[place])
  return `the answers differ: ${direct[at] ?? "none"}, with Strata ${strata[at < 0 ? direct.length : at] ?? "none"}`
}

const HEADINGS = [
  ...[
    "framework",
    "versions",
    "case",
    "requests",
    "refused",
    "answers",
    "direct",
    "with Strata",
    "compactions",
    "recalls",
  ],
  "result",
]

/** Where a cell has two figures, the first is without Strata, the second with it. */
export function adaptedTable(rows: readonly Adapted[]): string {
  return inColumns(HEADINGS, rows.map(cellsOf)).join("\n")
}

function cellsOf(row: Adapted): readonly string[] {
  const { framework, versions, what, direct, strata } = row
  const faults = faultsOf(row)
  return [
    ...[framework, versions, what, `${direct.requests}/${strata.requests}`],
    `${direct.refused.length}/${strata.refused.length}`,
    areEqual(direct.answers, strata.answers) ? `${direct.answers.length} equal` : "differ",
    ...[`$${direct.dollars.toFixed(2)}`, (strata.dollars / direct.dollars).toFixed(2)],
    ...[`${strata.compactions}`, `${strata.recalls}`],
    faults.length === 0 ? "works" : faults.join("; ").slice(0, 400),
  ]
}
