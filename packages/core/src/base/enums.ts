/** Names that settings, the agent and screens share. Data only. */

/** Events that can trigger hooks. */
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

export type HookEvent = (typeof HOOK_EVENTS)[number]

/** `plan` allows only calls that change nothing. `bypass` never asks, and must be chosen explicitly. */
export const PERMISSION_MODES = ["ask", "accept-edits", "plan", "bypass"] as const

/** What the agent may do without asking the user. */
export type PermissionMode = (typeof PERMISSION_MODES)[number]

/** The lists of permission rules, named after their effect. */
export const RULE_LISTS = ["allow", "ask", "deny"] as const

export type RuleList = (typeof RULE_LISTS)[number]

/** Which commands run in the system's sandbox, from fewest to most: none, those that no one allowed, or all but the user's own. */
export const SANDBOX_MODES = ["off", "unasked", "all"] as const

export type SandboxMode = (typeof SANDBOX_MODES)[number]

/** What may be stored across conversations, from most to least. `ask` shows each write first. */
export const MEMORY_MODES = ["auto", "ask", "read-only", "off"] as const

export type MemoryMode = (typeof MEMORY_MODES)[number]

/** Whether cost decides when to clear and compact: never, at any time, or only in pauses and between the user's requests. */
export const PLANNER_MODES = ["off", "economy", "balanced"] as const

export type PlannerMode = (typeof PLANNER_MODES)[number]

/** How long the server caches. `auto`: the planner decides. `prompt-1h`: tools and system prompt for an hour, messages for five minutes. */
export const CACHE_LIFETIMES = ["auto", "5m", "1h", "prompt-1h"] as const

/** The cache lifetime in the settings. `auto` chooses by the cost of pauses. */
export type CacheLifetimeSetting = (typeof CACHE_LIFETIMES)[number]

/** The cache lifetime of a request. */
export type CacheLifetime = Exclude<CacheLifetimeSetting, "auto">

/**
 * Purposes of a model request, in the order in which reports list them. `by-hand` (on disk): a compaction that the user requested.
 * `agent`: all requests of a sub-agent, as seen by its lead. `progress`: the status line of a sub-agent. `sampling`: for an MCP server.
 * `search`: a web search.
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

/** The purpose of a model request. */
export type RequestSource = (typeof REQUEST_SOURCES)[number]

/** Describes a valid rule in the sentence "must be …". */
export const PERMISSION_RULE = '"Tool" or "Tool(pattern)"'

const RULE_SHAPE = /^[^()\s]+(?:\(.*\))?$/s

export const isPermissionRule = (text: string): boolean => RULE_SHAPE.test(text.trim())
