/** The permission mode that an agent starts in: what was asked for, what the conversation was in, what the settings say. */
import { PERMISSION_MODES, type PermissionMode } from "../../base/vocabulary.ts"

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
