/** What the person's editor shows: a file or selected lines. It is said once for each change, and again if a boundary removed it. */

import type { Attachment } from "../messages/attachments.ts"
import { isRequest, type Uuid } from "../messages/messages.ts"
import type { ContextView } from "../views/context/context.ts"
import type { Engine } from "./engine.ts"

/** The file or the lines that the person's editor shows. */
export type EditorState = Extract<Attachment, { type: "editor_file" | "editor_selection" }>

/** Callers in JavaScript may pass anything; what is no attachment is refused when it is added. */
export const isEditorState = (attachment: Attachment | null): attachment is EditorState =>
  attachment?.type === "editor_file" || attachment?.type === "editor_selection"

/** The message that says it already, if the newest one about the editor does. */
export function saidInView(context: ContextView, state: EditorState): Uuid | undefined {
  const newest = context
    .storedMessages()
    .findLast((message) => message.type === "attachment" && isEditorState(message.attachment))
  return newest?.type === "attachment" && isSame(newest.attachment, state) ? newest.uuid : undefined
}

/** With a message of the person, so that a cursor that moves while the agent works costs nothing. */
export function editorDue(context: ContextView, state: EditorState | undefined): readonly EditorState[] {
  if (!state || saidInView(context, state) !== undefined) return []
  return context.sinceResponse().some(isRequest) ? [state] : []
}

function isSame(a: Attachment, b: EditorState): boolean {
  if (a.type === "editor_file") return b.type === "editor_file" && a.path === b.path
  if (a.type !== "editor_selection" || b.type !== "editor_selection") return false
  return a.path === b.path && a.fromLine === b.fromLine && a.toLine === b.toLine && a.content === b.content
}

/** Adds an attachment. What the editor shows is not said twice. */
export function attach(engine: Engine, attachment: Attachment): Promise<Uuid> {
  return engine.inOrder(async () => {
    const said = isEditorState(attachment) ? saidInView(engine.views.context, attachment) : undefined
    return said ?? (await engine.record.append([{ type: "attachment", attachment }]))[0]!.uuid
  })
}
