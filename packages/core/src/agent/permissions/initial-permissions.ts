/**
 * Initial permissions of an agent. The mode is set once the journal is open: the requested mode, the resumed one, or the one in the
 * settings.
 */
import { dirname, join } from "node:path"
import { PERMISSION_MODES, type PermissionMode } from "../../base/enums.ts"
import { journalDirectory } from "../../journal/file/layout.ts"
import type { AgentEnvironment } from "../agent-environment.ts"
import { memoryPermissions } from "../agent-memory.ts"
import type { SubAgentContext } from "../loop/agent-links.ts"
import type { JudgementRequest, PermissionPolicy } from "./permission-policy.ts"

/** `readable`: directories of tools that their results refer to. */
export function initialPolicy(
  { settings, cwd, root, env, memory, results }: AgentEnvironment,
  readable: readonly string[],
  sub?: SubAgentContext,
): PermissionPolicy {
  const { allow = [], ask = [], deny = [] } = settings.permissions
  return {
    mode: "ask",
    ...{ allow, ask, deny },
    project: cwd,
    protectedDirectories: [root, ...(memory?.kind === "agent" && memory.directory ? [dirname(memory.directory)] : [])],
    ...(memory ? memoryPermissions(memory) : {}),
    readable: [results, ...readable, ...(sub ? [offloadDirectory(root, sub)] : [])],
    ...(env.HOME ? { home: env.HOME } : {}),
    ...(sub?.copy ? { copy: sub.copy } : {}),
  }
}

/** Directory of a sub-agent's offloaded results. */
const offloadDirectory = (root: string, { namespace, leadId }: SubAgentContext): string =>
  join(journalDirectory(root, { project: namespace, under: leadId }), "tool-results")

export const readRequest = (path: string): JudgementRequest => ({
  tool: "Read",
  isReadOnly: true,
  question: { kind: "read", summary: `read ${path}`, paths: [path] },
})

export interface ModeSources {
  /** Mode from the option of `openAgent`. */
  readonly requested: PermissionMode | undefined
  /** Mode in the journal of a resumed conversation. */
  readonly resumed: string | undefined
  readonly configured: PermissionMode | undefined
  readonly canAsk: boolean
}

export interface InitialMode {
  readonly mode: PermissionMode
  /** Sentence for the user. */
  readonly problem?: string
}

const BYPASS_ENDED =
  "This conversation was in bypass mode. A resume does not bring it back: the mode is ask now. Choose bypass again if you want it."

/**
 * Chooses the initial mode. A resumed conversation keeps its mode, except `bypass`: a journal may come from someone else, and bypassing
 * permissions needs the user's decision each time. If nobody can be asked, `ask` would refuse everything, so a new agent accepts edits
 * unless its settings specify a mode.
 */
export function initialMode({ requested, resumed, configured, canAsk }: ModeSources): InitialMode {
  if (requested !== undefined) return { mode: requested }
  const known = PERMISSION_MODES.find((mode) => mode === resumed)
  if (known === "bypass") return configured === "bypass" ? { mode: known } : { mode: "ask", problem: BYPASS_ENDED }
  return { mode: known ?? configured ?? (canAsk ? "ask" : "accept-edits") }
}
