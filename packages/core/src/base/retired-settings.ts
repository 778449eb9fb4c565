/** Settings without the names that earlier versions accepted and nothing reads: an old file opens as before. */
import { RETIRED } from "./flag-names.ts"

export function withoutRetired(given: unknown): unknown {
  if (!isRecord(given)) return given
  const kept = { ...given }
  for (const [group, names] of Object.entries(RETIRED)) {
    const values = kept[group]
    if (isRecord(values))
      kept[group] = Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))
  }
  return kept
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
