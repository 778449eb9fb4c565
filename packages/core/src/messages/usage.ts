/**
 * Usage as a server or a loop of one's own reports it. What is no count is left out: a single `NaN` would make every later size and every
 * sum of money one, and no threshold would ever be reached.
 */
import type { Usage } from "./messages.ts"

/** Nothing where it does not say how much came in and went out. */
export function usableUsage(given: unknown): Usage | undefined {
  if (!isCounted(given)) return undefined
  const { iterations, ...usage } = given
  return Array.isArray(iterations) && iterations.every(isCounted) ? given : usage
}

const OPTIONAL = ["cache_creation_input_tokens", "cache_read_input_tokens", "cache_deleted_input_tokens"] as const

function isCounted(given: unknown): given is Usage {
  if (typeof given !== "object" || given === null) return false
  const usage = given as Usage
  const written = Object.values(usage.cache_creation ?? {})
  return (
    isCount(usage.input_tokens) &&
    isCount(usage.output_tokens) &&
    [...OPTIONAL.map((key) => usage[key]), ...written].every((value) => value == null || isCount(value))
  )
}

const isCount = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value) && value >= 0
