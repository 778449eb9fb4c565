/** What plugins ask: one JSON request, one JSON answer. */
import { StrataError } from "@strata/core"
import { reasonOf } from "@strata/core/base"
import { answerCarry, type CarryRequest, recordSession, uncompacted } from "./carry-request.ts"
import { CLIENTS, type Environment } from "./clients.ts"
import { type CompactedRequest, noteCompaction, OUTCOMES } from "./compactions.ts"
import type { LearnRequest, MemoriesRequest } from "./memories.ts"
import { type ObserveRequest, observe } from "./observe.ts"

const loadMemories = () => import("./memories.ts") // they open the project's memory, which a compaction does not need

type Request = Readonly<Record<string, unknown>>

/** By the field `ask`; without one it is `compactMessages`. */
const ANSWERS: Readonly<Record<string, (request: Request, env: Environment) => Promise<object>>> = {
  carry: (request, env) => answerCarry(request as unknown as CarryRequest, env),
  ahead: (request, env) => recordSession(request as unknown as CarryRequest, env),
  compacted: (request, env) => noteCompaction(request as unknown as CompactedRequest, env),
  undo: (request, env) => uncompacted(request as unknown as CarryRequest, env),
  learn: async (request, env) => (await loadMemories()).learn(request as unknown as LearnRequest, env),
  memories: async (request, env) => (await loadMemories()).memories(request as unknown as MemoriesRequest, env),
  observe: (request, env) => observe(request as unknown as ObserveRequest, env),
}

export async function answer(text: string, env: Environment): Promise<object> {
  const { ask = "carry", ...request } = parsed(text)
  const find = ANSWERS[String(ask)]
  if (!find) throw refused(`"ask" must be one of ${Object.keys(ANSWERS).join(", ")}`)
  if (ask === "carry" && !Array.isArray(request.messages ?? (request.session && [])))
    throw refused('it needs a list "messages", or "client" and "session"')
  if (request.client !== undefined && !CLIENTS.some((client) => client === request.client))
    throw refused(`"client" must be one of ${CLIENTS.join(", ")}`)
  for (const name of ["session", "agent", "cwd", "text", "why"])
    if (request[name] !== undefined && typeof request[name] !== "string") throw refused(`"${name}" must be a text`)
  if (request.outcome !== undefined && !OUTCOMES.some((outcome) => outcome === request.outcome))
    throw refused(`"outcome" must be one of ${OUTCOMES.join(", ")}`)
  for (const name of NEEDED[String(ask)] ?? [])
    if (request[name] === undefined) throw refused(`"${ask}" needs "${name}"`)
  return find(request, env)
}

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  ahead: ["client", "session"],
  compacted: ["client", "session", "outcome"],
  undo: ["client", "session"],
  observe: ["client", "session"],
  learn: ["session", "cwd", "typed"],
  memories: ["session", "cwd", "text"],
}

/** As a hook at the start of a session: what a version without mods can add after its own compaction. */
export async function answerHook(text: string, env: Environment): Promise<object> {
  const { session_id: session, source } = parsed(text)
  if (typeof session !== "string" || source !== "compact") return {}
  const { facts } = await answerCarry({ client: "claude-code", session, summary: "", keep: 0 }, env)
  return facts === "" ? {} : { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: facts } }
}

function parsed(text: string): Request {
  try {
    return Object(JSON.parse(text)) as Request
  } catch (error) {
    throw refused(reasonOf(error))
  }
}

const refused = (why: string) => new StrataError(`The request cannot be answered: ${why}. Nothing was done.`)
