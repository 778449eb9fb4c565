/** What an agent may do when it starts. The mode is set once the journal is open: what was asked for, what it was in, what the settings say. */
import { dirname, join } from "node:path"
import { PERMISSION_MODES, type PermissionMode } from "../../base/vocabulary.ts"
import { journalDirectory } from "../../journal/file/layout.ts"
import { memoryRights } from "../agent-memory.ts"
import type { Ground } from "../ground.ts"
import type { SubAgentPlace } from "../loop/companions.ts"
import type { PermissionPolicy, Request } from "./permission-policy.ts"

/** `readable`: where tools keep what their results name. */
export function openingPolicy(
  { settings, cwd, root, env, memory, results }: Ground,
  readable: readonly string[],
  sub?: SubAgentPlace,
): PermissionPolicy {
  const { allow = [], ask = [], deny = [] } = settings.permissions
  return {
    mode: "ask",
    ...{ allow, ask, deny },
    project: cwd,
    kept: [root, ...(memory?.kind === "agent" && memory.directory ? [dirname(memory.directory)] : [])],
    ...(memory ? memoryRights(memory) : {}),
    readable: [results, ...readable, ...(sub ? [putAside(root, sub)] : [])],
    ...(env.HOME ? { home: env.HOME } : {}),
    ...(sub?.copy ? { copy: sub.copy } : {}),
  }
}

/** Where layer 1 puts aside a sub-agent's large results. */
const putAside = (root: string, { project, under }: SubAgentPlace): string =>
  join(journalDirectory(root, { project, under }), "tool-results")

export const readingOf = (path: string): Request => ({
  tool: "Read",
  isReadOnly: true,
  question: { kind: "read", summary: `read ${path}`, paths: [path] },
})

export interface ModeSources {
  /** The option of `openAgent`. */
  readonly asked: PermissionMode | undefined
  /** The mode in the journal of a resumed conversation. */
  readonly kept: string | undefined
  readonly configured: PermissionMode | undefined
  readonly canAsk: boolean
}

export interface OpeningMode {
  readonly mode: PermissionMode
  /** For the person. */
  readonly problem?: string
}

const BYPASS_ENDED =
  "This conversation was in bypass mode. A resume does not bring it back: the mode is ask now. Choose bypass again if you want it."

/**
 * A resumed conversation keeps its mode. Only `bypass` is not kept: a journal may come from someone else, and bypassing permissions needs
 * a person's choice each time. With no one to ask, "ask" means no, so a new agent without a person edits the project unless its settings say otherwise.
 */
export function openingMode({ asked, kept, configured, canAsk }: ModeSources): OpeningMode {
  if (asked !== undefined) return { mode: asked }
  const known = PERMISSION_MODES.find((mode) => mode === kept)
  if (known === "bypass") return configured === "bypass" ? { mode: known } : { mode: "ask", problem: BYPASS_ENDED }
  return { mode: known ?? configured ?? (canAsk ? "ask" : "accept-edits") }
}
