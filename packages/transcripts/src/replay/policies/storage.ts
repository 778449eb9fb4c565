/** Layer 1 as the policies use it. With these figures it only marks empty results, which makes requests valid. */
import { type ToolResultStorageOptions, toolResultStorage } from "@strata/core/policy"

/** Our tools that keep their results short themselves. */
export const LIMITS_ITSELF = [
  ...["Read", "KillShell", "AskUser"],
  ...["EnterPlanMode", "ExitPlanMode", "Skill", "TodoWrite"],
]

const OUT_OF_REACH = 100_000_000 // characters: the most the figures allow
export const UNLIMITED = { "tool-result-limit": OUT_OF_REACH, "message-results-limit": OUT_OF_REACH } as const

export const storage = (parts: Pick<ToolResultStorageOptions, "onPutAside"> = {}) =>
  toolResultStorage({ limitsItself: LIMITS_ITSELF, ...parts })
