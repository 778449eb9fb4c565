/** Creates a policy from layers. */
import type { Policy } from "../policy.ts"
import { rerun } from "../rerun.ts"
import type { LayeredPolicy } from "./layered-policy.ts"

export function layered(policy: LayeredPolicy): Policy & LayeredPolicy {
  return { ...policy, run: (recording, options) => rerun(recording, policy, options) }
}
