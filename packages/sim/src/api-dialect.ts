/** The API version and the betas from a client's headers. They decide which fields and blocks a body may have. */
import { invalidRequest } from "./api-error.ts"

export const API_VERSIONS = ["2023-06-01", "2026-10-21"] as const
export type ApiVersion = (typeof API_VERSIONS)[number]

/** The betas that change what the simulator does. */
export const BETA = {
  contextManagement: "context-management-2025-06-27",
  compactAtThreshold: "compact-2026-01-12",
  compactOnDemand: "compact-2026-09-04",
  threads: "message-threads-2026-08-12",
  thinkingBinding: "thinking-binding-controls-2026-08-01",
  thinkingUpdates: "thinking-display-updates-2026-08-18",
  taskBudgets: "task-budgets-2026-03-13",
  systemClearAt: "mid-conversation-system-clear-at-2026-08-21",
  systemOutputConfig: "mid-conversation-output-config-2026-07-01",
  perTurnControl: "per-turn-control-2026-07-01",
  toolChanges: "mid-conversation-tool-changes-2026-07-01",
  inlineTools: "inline-tools-2026-09-15",
  longContext: "context-1m-2025-08-07",
} as const

/**
 * Betas the simulator knows and ignores. From the types of SDK 1.8.0 and of the Vercel provider 4.0, and from what Claude Code 1.0 to 2.1,
 * pi, opencode, Cline and the Agent SDK send. `strictBetas` refuses any other.
 */
const OTHER_BETAS = [
  "message-batches-2024-09-24",
  "prompt-caching-2024-07-31",
  "computer-use-2024-10-22",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "pdfs-2024-09-25",
  "token-counting-2024-11-01",
  "token-efficient-tools-2025-02-19",
  "output-128k-2025-02-19",
  "output-300k-2026-03-24",
  "files-api-2025-04-14",
  "mcp-client-2025-04-04",
  "mcp-client-2025-11-20",
  "mcp-client-2026-09-15",
  "dev-full-thinking-2025-05-14",
  "interleaved-thinking-2025-05-14",
  "fine-grained-tool-streaming-2025-05-14",
  "code-execution-2025-05-22",
  "code-execution-2025-08-25",
  "code-execution-web-tools-2026-02-09",
  "web-fetch-2025-09-10",
  "extended-cache-ttl-2025-04-11",
  "model-context-window-exceeded-2025-08-26",
  "skills-2025-10-02",
  "fast-mode-2026-02-01",
  "user-profiles-2026-03-24",
  "user-profiles-2026-08-18",
  "user-profiles-2026-09-04",
  "advisor-tool-2026-03-01",
  "advanced-tool-use-2025-11-20",
  "dangerous-tool-use-2026-09-03",
  "managed-agents-2026-04-01",
  "cache-diagnosis-2026-04-07",
  "thinking-token-count-2026-05-13",
  "server-side-fallback-2026-06-01",
  "server-side-fallback-2026-07-01",
  "fallback-credit-2026-06-01",
  "fallback-credit-2026-07-01",
  "agent-memory-2026-07-22",
  "mid-conversation-system-2026-04-07",
  "mcp-tunnels-2026-06-22",
  "structured-outputs-2025-11-13",
  "structured-outputs-2025-12-15",
  "adaptive-thinking-2026-01-28",
  "effort-2025-11-24",
  "prompt-caching-scope-2026-01-05",
  "claude-code-20250219", // sent by Claude Code
  "oauth-2025-04-20",
  "afk-mode-2026-01-31",
]

const KNOWN_BETAS = new Set<string>([...Object.values(BETA), ...OTHER_BETAS])

/** A beta is a name of letters, digits, dots, hyphens and underscores. Anything else is malformed. */
const WELL_FORMED = /^[a-z0-9][a-z0-9._-]{0,127}$/i

export interface Dialect {
  readonly version: ApiVersion
  readonly betas: ReadonlySet<string>
  /** Whether the simulator's non-standard cache editing mode is on. */
  readonly cacheEdits: boolean
  /** Block types that this server knows and its clients do not. */
  readonly newBlockTypes: readonly string[]
  /** Whether system messages are refused on the models where it is open. */
  readonly strictSystemMessages: boolean
}

export interface DialectSettings extends Pick<Dialect, "cacheEdits" | "newBlockTypes" | "strictSystemMessages"> {
  /** Refuses betas that are not in the lists above. The API accepts any that is well formed. */
  readonly strictBetas: boolean
}

/** Reads the two headers, or throws the API's error about them. */
export function readDialect(headers: Headers, server: DialectSettings): Dialect {
  const version = headers.get("anthropic-version")
  if (!version) throw invalidRequest("anthropic-version: header is required")
  if (!isApiVersion(version)) throw invalidRequest(`anthropic-version: "${version}" is not a valid version`)

  const betas = (headers.get("anthropic-beta") ?? "").split(",").flatMap((beta) => beta.trim() || [])
  const unknown = betas.filter((beta) => !(server.strictBetas ? KNOWN_BETAS.has(beta) : WELL_FORMED.test(beta)))
  if (unknown.length > 0) {
    const names = unknown.map((beta) => `\`${beta}\``).join(", ")
    throw invalidRequest(`Unexpected value(s) ${names} for the \`anthropic-beta\` header.`)
  }
  const { cacheEdits, newBlockTypes, strictSystemMessages } = server
  return { version, betas: new Set(betas), cacheEdits, newBlockTypes, strictSystemMessages }
}

const isApiVersion = (text: string): text is ApiVersion => (API_VERSIONS as readonly string[]).includes(text)
