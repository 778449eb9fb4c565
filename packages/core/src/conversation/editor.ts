/** The editor state: a file or selected lines in the user's editor. It is sent once per change, and again if a boundary removed it. */

import type { Attachment } from "../messages/attachments.ts"
import { isRequest, type Uuid } from "../messages/messages.ts"
import type { ContextView } from "../views/context/context.ts"
import type { Engine } from "./engine.ts"

/** The file or lines that the user's editor shows. */
export type EditorState = Extract<Attachment, { type: "editor_file" | "editor_selection" }>

/** Whether an attachment is an editor state. Untyped callers may pass anything; invalid attachments are refused when they are added. */
export const isEditorState = (attachment: Attachment | null): attachment is EditorState =>
  attachment?.type === "editor_file" || attachment?.type === "editor_selection"

/** The message that already contains this state, if it is the newest one about the editor. */
export function findEditorState(context: ContextView, state: EditorState): Uuid | undefined {
  const newest = context
    .storedMessages()
    .findLast((message) => message.type === "attachment" && isEditorState(message.attachment))
  return newest?.type === "attachment" && isSame(newest.attachment, state) ? newest.uuid : undefined
}

/** Editor state that is due. It accompanies a message of the user, so that moving the cursor while the agent works costs nothing. */
export function pendingEditorState(context: ContextView, state: EditorState | undefined): readonly EditorState[] {
  if (!state || findEditorState(context, state) !== undefined) return []
  return context.sinceResponse().some(isRequest) ? [state] : []
}

function isSame(a: Attachment, b: EditorState): boolean {
  if (a.type === "editor_file") return b.type === "editor_file" && a.path === b.path
  if (a.type !== "editor_selection" || b.type !== "editor_selection") return false
  return a.path === b.path && a.fromLine === b.fromLine && a.toLine === b.toLine && a.content === b.content
}

/** Adds an attachment. An unchanged editor state is not added again. */
export function attach(engine: Engine, attachment: Attachment): Promise<Uuid> {
  return engine.inOrder(async () => {
    const earlier = isEditorState(attachment) ? findEditorState(engine.views.context, attachment) : undefined
    return earlier ?? (await engine.record.append([{ type: "attachment", attachment }]))[0]!.uuid
  })
}
