/** What kind of change a decision makes to the context view. */

import type { DecisionEntry, DecisionOf, SessionFacts } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"

type ClearedResults = Extract<DecisionEntry, { subtype: "tool-results-cleared" }>

export const dropsThinking = (decision: DecisionEntry): boolean =>
  decision.subtype === "thinking-dropped" ||
  (decision.subtype === "repaired" && decision.repairs.some(({ rule }) => rule === "trailing-thinking"))

/** Results are deleted inside the server's cache. */
export const editsCache = (decision: DecisionEntry): decision is ClearedResults =>
  decision.subtype === "tool-results-cleared" && decision.why === "cache-edit"

/** Results are replaced in the messages that are sent. */
export const clearsHere = (decision: DecisionEntry): decision is ClearedResults =>
  decision.subtype === "tool-results-cleared" && decision.why !== "cache-edit"

export const clearedMemories = (decision: DecisionEntry): readonly Uuid[] =>
  decision.subtype === "tool-results-cleared" ? (decision.attachments ?? []) : []

/** Tokens that the server reports it cleared from its copy of the request. */
export const clearedByServer = (decision: DecisionEntry): number =>
  decision.subtype === "server-edited" ? decision.edits.reduce<number>((sum, edit) => sum + clearedBy(edit), 0) : 0

function clearedBy(edit: unknown): number {
  const tokens = (edit as { cleared_input_tokens?: unknown } | null)?.cleared_input_tokens
  return typeof tokens === "number" && tokens > 0 ? tokens : 0
}

/** Whether an edit of the server is about tool results. Other edits leave them whole. */
export const clearsResults = (edit: unknown): boolean =>
  String((edit as { type?: unknown } | null)?.type).startsWith("clear_tool_uses")

/** Blocks that a response brought, or a signed summary, are no longer sent. */
const leavesOutBlocks = (decision: DecisionEntry): boolean =>
  decision.subtype === "repaired" &&
  decision.repairs.some(({ rule }) => rule === "unknown-block" || rule === "unsigned-summary")

/** Whether a decision changes which blocks there are, and not only how a block is shown. */
export const changesMessages = (decision: DecisionEntry): boolean =>
  dropsThinking(decision) ||
  leavesOutBlocks(decision) ||
  decision.subtype === "cache-edits-dropped" ||
  clearedMemories(decision).length > 0

/** Without the fields of its line. */
export function sessionFacts({ title, mode, model, cwd, origin, prompt, source }: DecisionOf<"session">): SessionFacts {
  return {
    ...(title === undefined ? {} : { title }),
    ...(mode === undefined ? {} : { mode }),
    model,
    cwd,
    ...(origin === undefined ? {} : { origin }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(source === undefined ? {} : { source }),
  }
}
