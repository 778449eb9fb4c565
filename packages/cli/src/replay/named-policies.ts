/** Finds policies by name. */
import { ALL_POLICIES, type Policy } from "@strata/transcripts/replay"
import { UsageError } from "../command.ts"
import { nearestTo } from "../suggestion.ts"

export function namedPolicy(name: string): Policy {
  const policy = ALL_POLICIES.find((each) => each.name === name)
  if (policy) return policy
  const names = ALL_POLICIES.map((each) => each.name)
  const near = nearestTo(name, names)
  const hint = near === undefined ? "" : ` Did you mean ${near}?`
  throw new UsageError(`There is no policy "${name}".${hint} The policies are ${names.join(", ")}.`)
}

/** Policies of a list such as `a,b,c`, without duplicates, in the order of the policy list. */
export function namedPolicies(list: string, always: readonly string[]): readonly Policy[] {
  const names = list.split(",").map((name) => name.trim())
  const asked = new Set(names.filter((name) => name !== "").map(namedPolicy))
  if (asked.size === 0) throw new UsageError("--policies needs at least one name, such as --policies strata,none.")
  return ALL_POLICIES.filter((policy) => asked.has(policy) || always.includes(policy.name))
}
