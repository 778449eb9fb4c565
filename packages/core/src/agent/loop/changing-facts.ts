/**
 * What changes by itself: the permission mode and the date. Neither is in the system prompt. Each is said in a message where it changes,
 * so nothing before that message changes and the server's cache still fits.
 */
import type { PermissionMode } from "../../base/vocabulary.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { isRequest } from "../../messages/messages.ts"
import type { ContextView } from "../../views/context/context.ts"

/** The mode that a model assumes where nothing is said. */
const UNSAID_MODE: PermissionMode = "ask"

export interface ChangingFacts {
  readonly mode: PermissionMode
  /** The time now. Absent where the caller's own system prompt decides what the model knows. */
  readonly now?: Date
}

/** What the messages in view do not say yet, or no longer. */
export function factsDue(context: ContextView, { mode, now }: ChangingFacts): readonly Attachment[] {
  return [...(now ? dateDue(context, dayOf(now)) : []), ...modeDue(context, mode)]
}

function modeDue({ said }: ContextView, mode: PermissionMode): readonly Attachment[] {
  const before = said.mode
  if ((before ?? UNSAID_MODE) === mode) return []
  return [{ type: "permission_mode", mode, ...(before === undefined ? {} : { before }) }]
}

/** A new day is said with a message of the person, so that work that goes on over midnight is not interrupted. */
function dateDue(context: ContextView, date: string): readonly Attachment[] {
  const { said } = context
  if (said.date === date) return []
  return said.date === undefined || context.sinceResponse().some(isRequest) ? [{ type: "date", date }] : []
}

const dayOf = (time: Date): string => time.toISOString().slice(0, "YYYY-MM-DD".length)
