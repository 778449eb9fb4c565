/** Tries the frameworks one after another. Each is installed once, with Strata's packages from this checkout. */

import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inColumns } from "../columns.ts"
import { install, nameOf, versionOf } from "../install.ts"
import type { Framework } from "./framework.ts"
import { type AdaptedRun, runCase } from "./run-case.ts"

// One row for each program, with the runs without and with Strata.

export interface AdaptedResult {
  readonly framework: string
  readonly versions: string
  readonly what: string
  readonly compactions: number
  readonly goal?: number | undefined
  readonly direct: AdaptedRun
  readonly strata: AdaptedRun
}

/** Defects of a run, as sentences. */
export function adaptedDefects({ direct, strata, compactions, goal }: AdaptedResult): readonly string[] {
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

/** In cells with two values, the first is without Strata, the second with it. */
export function adaptedTable(rows: readonly AdaptedResult[]): string {
  return inColumns(HEADINGS, rows.map(cellsOf)).join("\n")
}

function cellsOf(row: AdaptedResult): readonly string[] {
  const { framework, versions, what, direct, strata } = row
  const faults = adaptedDefects(row)
  return [
    ...[framework, versions, what, `${direct.requests}/${strata.requests}`],
    `${direct.refused.length}/${strata.refused.length}`,
    areEqual(direct.answers, strata.answers) ? `${direct.answers.length} equal` : "differ",
    ...[`$${direct.dollars.toFixed(2)}`, (strata.dollars / direct.dollars).toFixed(2)],
    ...[`${strata.compactions}`, `${strata.recalls}`],
    faults.length === 0 ? "works" : faults.join("; ").slice(0, 400),
  ]
}

const OURS = ["core", "adapters"]

export interface AdaptedTrialOptions {
  readonly frameworks: readonly Framework[]
  /** Directory in which the frameworks are installed and run. */
  readonly root: string
  /** Only cases whose name contains this. */
  readonly only?: string | undefined
}

/** Prints each row as soon as it is known. Resolves with whether no run has a defect. */
export async function tryAdapted({ frameworks, root, only = "" }: AdaptedTrialOptions): Promise<boolean> {
  const rows: AdaptedResult[] = []
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
      isGood &&= adaptedDefects(row).length === 0
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
    const target = fileURLToPath(new URL(`../../../../packages/${name}`, import.meta.url))
    if (!existsSync(join(scope, name))) symlinkSync(target, join(scope, name))
  }
}
