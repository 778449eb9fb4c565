/**
 * Checks the usage reported by a server or by your own loop. A single `NaN` would spread to every later size and cost, and no
 * threshold would ever be reached, so anything that is not a count is dropped.
 */
import type { Usage } from "./messages.ts"

/** Undefined if the input or output tokens are missing. */
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

const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER
