/** Handles requests of plugins: one JSON request, one JSON response. */
import { StrataError } from "@strata/core"
import { errorReason } from "@strata/core/base"
import { CLIENTS, type Environment } from "./clients.ts"
import { type CompactRequest, compactSession, recordSession, restoreCompactedMessages } from "./compact-endpoint.ts"
import { COMPACTION_OUTCOMES, type CompactionReport, recordCompaction } from "./compactions.ts"
import type { LearnRequest, MemoriesRequest } from "./memories.ts"
import { type ObserveRequest, observe } from "./observe.ts"

const loadMemories = () => import("./memories.ts") // they open the project's memory, which a compaction does not need

type PluginRequest = Readonly<Record<string, unknown>>

/** Handlers by the field `ask`. Without it, a request compacts messages. */
const HANDLERS: Readonly<Record<string, (request: PluginRequest, env: Environment) => Promise<object>>> = {
  carry: (request, env) => compactSession(request as unknown as CompactRequest, env),
  ahead: (request, env) => recordSession(request as unknown as CompactRequest, env),
  compacted: (request, env) => recordCompaction(request as unknown as CompactionReport, env),
  undo: (request, env) => restoreCompactedMessages(request as unknown as CompactRequest, env),
  learn: async (request, env) => (await loadMemories()).learn(request as unknown as LearnRequest, env),
  memories: async (request, env) => (await loadMemories()).memories(request as unknown as MemoriesRequest, env),
  observe: (request, env) => observe(request as unknown as ObserveRequest, env),
}

export async function handleRequest(text: string, env: Environment): Promise<object> {
  const { ask = "carry", ...request } = parseRequest(text)
  const find = HANDLERS[String(ask)]
  if (!find) throw invalidRequest(`"ask" must be one of ${Object.keys(HANDLERS).join(", ")}`)
  if (ask === "carry" && !Array.isArray(request.messages ?? (request.session && [])))
    throw invalidRequest('it needs a list "messages", or "client" and "session"')
  if (request.client !== undefined && !CLIENTS.some((client) => client === request.client))
    throw invalidRequest(`"client" must be one of ${CLIENTS.join(", ")}`)
  for (const name of ["session", "agent", "cwd", "text", "why"])
    if (request[name] !== undefined && typeof request[name] !== "string")
      throw invalidRequest(`"${name}" must be a string`)
  if (request.outcome !== undefined && !COMPACTION_OUTCOMES.some((outcome) => outcome === request.outcome))
    throw invalidRequest(`"outcome" must be one of ${COMPACTION_OUTCOMES.join(", ")}`)
  for (const name of REQUIRED_FIELDS[String(ask)] ?? [])
    if (request[name] === undefined) throw invalidRequest(`"${ask}" needs "${name}"`)
  return find(request, env)
}

const REQUIRED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  ahead: ["client", "session"],
  compacted: ["client", "session", "outcome"],
  undo: ["client", "session"],
  observe: ["client", "session"],
  learn: ["session", "cwd", "typed"],
  memories: ["session", "cwd", "text"],
}

/** Handles the hook at the start of a session, by which a version without mods can add the record after its own compaction. */
export async function handleSessionStartHook(text: string, env: Environment): Promise<object> {
  const { session_id: session, source } = parseRequest(text)
  if (typeof session !== "string" || source !== "compact") return {}
  const { facts } = await compactSession({ client: "claude-code", session, summary: "", keep: 0 }, env)
  return facts === "" ? {} : { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: facts } }
}

function parseRequest(text: string): PluginRequest {
  try {
    return Object(JSON.parse(text)) as PluginRequest
  } catch (error) {
    throw invalidRequest(errorReason(error))
  }
}

const invalidRequest = (why: string) => new StrataError(`The request is invalid: ${why}. Nothing was done.`)
