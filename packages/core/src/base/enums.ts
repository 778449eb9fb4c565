/** Names that the settings, the agent and the screens share. Data only. */

/** The events that hooks can run on. */
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
  "Notification",
  "InstructionsLoaded",
] as const

/** When a hook is called. */
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** `plan` allows only calls that change nothing. `bypass` never asks, and must be chosen explicitly. */
export const PERMISSION_MODES = ["ask", "accept-edits", "plan", "bypass"] as const

/** What the agent may do without asking. */
export type PermissionMode = (typeof PERMISSION_MODES)[number]

/** What a permission rule does. */
export const RULE_LISTS = ["allow", "ask", "deny"] as const

export type RuleList = (typeof RULE_LISTS)[number]

/** Which commands run in the system's sandbox, the fewest first: none, those that no one allowed, or all but the person's own. */
export const SANDBOX_MODES = ["off", "unasked", "all"] as const

export type SandboxMode = (typeof SANDBOX_MODES)[number]

/** What may be kept across conversations, the widest first. `ask` shows each write first. */
export const MEMORY_MODES = ["auto", "ask", "read-only", "off"] as const

export type MemoryMode = (typeof MEMORY_MODES)[number]

/** Whether money decides when to clear and compact: not at all, anywhere, or only in pauses and between the person's requests. */
export const PLANNER_MODES = ["off", "economy", "balanced"] as const

export type PlannerMode = (typeof PLANNER_MODES)[number]

/**
 * How long the server keeps what it caches. `auto`: the planner decides. `prompt-1h`: tools and system prompt for an hour, messages for
 * five minutes.
 */
export const CACHE_LIFETIMES = ["auto", "5m", "1h", "prompt-1h"] as const

/** How long the server keeps what it caches: `auto` chooses by what the pauses cost. */
export type CacheLifetimeSetting = (typeof CACHE_LIFETIMES)[number]

/** What a request asks for. */
export type CacheLifetime = Exclude<CacheLifetimeSetting, "auto">

/**
 * What a request to a model is for, in the order reports list them. `by-hand`: a compaction that a person asked for. `agent`: all requests
 * of a sub-agent, seen from its lead. `progress`: the line that says what a sub-agent is doing. `sampling`: of an MCP server. `search`: of the web.
 */
export const REQUEST_SOURCES = [
  "main",
  "notes",
  "compaction",
  "by-hand",
  "memory",
  "dream",
  "agent",
  "progress",
  "keep-warm",
  "sampling",
  "search",
] as const

/** What a request is for. */
export type RequestSource = (typeof REQUEST_SOURCES)[number]

/** Completes the sentence "must be …". */
export const PERMISSION_RULE = '"Tool" or "Tool(pattern)"'

const RULE_SHAPE = /^[^()\s]+(?:\(.*\))?$/s

export const isPermissionRule = (text: string): boolean => RULE_SHAPE.test(text.trim())
