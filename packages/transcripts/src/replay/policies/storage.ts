/** Layer 1 as the policies use it. With these limits it only replaces empty results, which makes requests valid. */
import { type ToolResultStorageOptions, toolResultStorage } from "@strata/core/policy"

/** Strata tools that limit their results themselves. */
export const LIMITS_ITSELF = [
  ...["Read", "KillShell", "AskUser"],
  ...["EnterPlanMode", "ExitPlanMode", "Skill", "TodoWrite"],
]

const OUT_OF_REACH = 100_000_000 // characters, the maximum that the settings allow
export const UNLIMITED = { "tool-result-limit": OUT_OF_REACH, "message-results-limit": OUT_OF_REACH } as const

export const storage = (parts: Pick<ToolResultStorageOptions, "onOffload"> = {}) =>
  toolResultStorage({ limitsItself: LIMITS_ITSELF, ...parts })
