/** The settings listed in docs/settings.md, all switches and tunables, and the definition of their probes. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { FIGURES, SWITCHES } from "../../../src/settings/flag-names.ts"
import type { SettingsInput } from "../../../src/settings/settings.ts"

const ROOT = join(import.meta.dirname, "../../../../..")
const DOCS = readFileSync(join(ROOT, "docs/settings.md"), "utf8")

/** Opens a scene with these settings and returns its observable effect. */
export type Observe = (settings: SettingsInput) => Promise<unknown>

export interface Probe {
  readonly observe: Observe
  /** The changed value. Switches need none: they are inverted. */
  readonly turned?: unknown
  /** The effect by default, and after the row was changed. */
  readonly usual: unknown
  readonly changed: unknown
}

export type Probes = Readonly<Record<string, Probe>>

/** The names in the first column of the table under a heading; a row may contain two. */
function rowsUnder(header: string): readonly string[] {
  const table = DOCS.slice(DOCS.indexOf(header)).split("\n\n")[0]!
  return table
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .flatMap((line) => [...line.split("|")[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))
}

export const TABLES = {
  settings: rowsUnder("| key | environment |").filter((name) => name !== "switches" && name !== "figures"),
  switches: SWITCHES.map(({ name }): string => name),
  figures: FIGURES.map(({ name }): string => name),
}

/** The settings with one row changed. */
export function turnedTo(table: keyof typeof TABLES, name: string, turned: unknown): SettingsInput {
  if (table === "settings") return { [name]: turned }
  if (table === "figures") return { figures: { [name]: turned } } as SettingsInput
  return { switches: { [name]: !SWITCHES.find((row) => row.name === name)!.on } } as SettingsInput
}
