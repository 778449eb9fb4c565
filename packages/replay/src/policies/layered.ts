/** A policy made of layers. */
import type { LayeredPolicy, Policy } from "../policy.ts"
import { rerun } from "../rerun.ts"

export function layered(policy: LayeredPolicy): Policy & LayeredPolicy {
  return { ...policy, run: (recording, options) => rerun(recording, policy, options) }
}
