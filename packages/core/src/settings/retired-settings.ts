/** Settings without the names and values that earlier versions accepted and nothing reads: an old file opens as before. */
import { RETIRED, RETIRED_VALUES } from "./flag-names.ts"

export function withoutRetired(given: unknown): unknown {
  if (!isRecord(given)) return given
  const { settings, ...groups } = RETIRED
  const kept: Record<string, unknown> = without(settings, given)
  for (const [group, names] of Object.entries(groups)) {
    const values = kept[group]
    if (isRecord(values)) kept[group] = without(names, values)
  }
  for (const [name, values] of Object.entries(RETIRED_VALUES))
    if (values.includes(kept[name] as string)) delete kept[name]
  return kept
}

const without = (names: readonly string[], values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
