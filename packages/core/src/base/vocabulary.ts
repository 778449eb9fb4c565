/** Words that settings, loop and screen share. Data only. */

/** HOOK-1: the moments at which hooks may act. */
export const HOOK_EVENTS = [
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PreCompact",
  "PostCompact",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "PermissionRequest",
  "InstructionsLoaded",
] as const

export type HookEvent = (typeof HOOK_EVENTS)[number]

/** PERM-1. `plan` allows only what changes nothing; `bypass` asks nothing and must be chosen explicitly. */
export const PERMISSION_MODES = ["ask", "accept-edits", "plan", "bypass"] as const

export type PermissionMode = (typeof PERMISSION_MODES)[number]
